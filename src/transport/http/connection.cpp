#include "transport/http/connection.hpp"

#include <algorithm>
#include <exception>
#include <functional>
#include <utility>

#include "base/ids.hpp"
#include "transport/http/answer_text.hpp"
#include "transport/http/body_collector.hpp"
#include "transport/http/body_decoder.hpp"

namespace skerry::transport::http {
namespace {

constexpr std::size_t kReadSize = std::size_t{4} << 10U;
constexpr std::size_t kBodyReadSize = std::size_t{128} << 10U;
constexpr std::chrono::milliseconds kLookAtHandler{200};
constexpr std::chrono::milliseconds kLookAtStream{500};
constexpr std::chrono::milliseconds kLookAtToken{2000};
constexpr std::chrono::milliseconds kLinger{1000};
constexpr std::chrono::milliseconds kManyMistakes{200};  // a client that would wait that long for a 401 gets a 429
constexpr int kUnauthorised = 401;
constexpr double kRefusalCost = 64 << 10U;
constexpr double kPieceCost = 512;  // of a piece of a body: what it costs besides its bytes
constexpr std::size_t kSmallAnswer = std::size_t{64} << 10U;

Refusal Busy() {
  return {.status = 503,
          .code = "unavailable",
          .message = "too much is going on; try again soon",
          .headers = {{"Retry-After", "1"}}};
}

Refusal TooMany() {
  return {.status = 429,
          .code = "rate_limited",
          .message = "too many requests at once; wait for some of them",
          .headers = {{"Retry-After", "1"}}};
}

Refusal TooManyConnections() {
  return {.status = 429,
          .code = "rate_limited",
          .message = "too many connections of this tenant; close some of them",
          .headers = {{"Retry-After", "1"}}};
}

Refusal TooManyMistakes() {
  return {.status = 429,
          .code = "rate_limited",
          .message = "too many requests without a proper token from this address; wait and try again",
          .headers = {{"Retry-After", "10"}}};
}

Refusal NeedsUpgrade() {
  return {.status = 426,
          .code = "upgrade_required",
          .message = "this is a WebSocket (version 13); nothing may be sent before its handshake is over",
          .headers = {{"Upgrade", "websocket"}, {"Sec-WebSocket-Version", "13"}}};
}

// Takes all bytes that have arrived in one go, and counts the pieces: a body may come in pieces of one byte.
std::optional<Refusal> TakeBody(ReadBuffer& in, BodyDecoder& decoder, BodyCollector& collector, std::size_t& pieces) {
  std::string content;
  if (const auto taken = decoder.Take(in, content, pieces); !taken) return RefusalOf(taken.error());
  return content.empty() ? std::nullopt : collector.Append(content);
}

Response RefusalIn(const Dialect* dialect, const Refusal& refusal, const std::string& request_id) {
  const bool has_words = dialect != nullptr && dialect->refuse;
  return has_words ? dialect->refuse(refusal, request_id) : RefuseNeutrally(refusal, request_id);
}

// Handlers throw nothing; an exception of a library below is one failed request and not the end of the daemon.
Response CallHandler(const Exchange& exchange) {
  try {
    return exchange.route->handler(exchange.request);
  } catch (const std::exception&) {
    const Refusal refusal = RefusalOf({base::Code::kInternal, "the handler failed"});
    return RefusalIn(exchange.dialect, refusal, exchange.request.id);
  }
}

BodyLimits LimitsOf(const Exchange& exchange, const ServerOptions& options) {
  const bool large = exchange.route->body == BodyRule::kLarge;
  return {.keeping = large ? Keeping::kSpool : Keeping::kMemory,
          .most = exchange.max_body,
          .in_memory = options.limits.memory_body,
          .spool = options.spool};
}

base::BudgetShare ShareOf(const Caller& caller, std::shared_ptr<base::Budget> budget) {
  return {std::move(budget), caller.tenant, caller.owner ? base::Reach::kReserve : base::Reach::kTenant};
}

// How many bytes of the answer wait in memory until the client has read them.
std::uint64_t WaitingBytes(const Response& response) {
  const auto* text = std::get_if<std::string>(&response.body);
  return text == nullptr || text->size() <= kSmallAnswer ? 0 : text->size();
}

Refusal NoRoomForAnswer(base::Shortage shortage) {
  const bool own = shortage == base::Shortage::kOwn;
  return {.status = own ? 429 : 503,
          .code = own ? "rate_limited" : "unavailable",
          .message = own ? "answers that this tenant has not read yet take all of the memory that they may; read them, "
                           "then ask for this one again"
                         : "answers that nobody has read yet take all of the memory that they may; ask again soon",
          .headers = {{"Retry-After", "1"}}};
}

}  // namespace

Connection::Connection(Service& service, Channel channel, Client client, Places::Id place)
    : service_(service),
      channel_(std::move(channel)),
      client_(std::move(client)),
      place_(place),
      pause_(*service.loop) {}

asio::awaitable<void> Connection::Serve() {
  limit_.Within(service_.options.limits.header_time);
  if (channel_.tls() != nullptr && !co_await MayShakeHands()) co_return;
  if (!co_await channel_.Handshake()) co_return;
  while (!aborted_ && !service_.draining && co_await ServeOne()) first_ = false;
  co_await Leave();
}

// A handshake uses the key on the socket thread, for any client. Too many from one address have to wait, or are
// refused.
asio::awaitable<bool> Connection::MayShakeHands() {
  const auto wait = service_.handshakes.Charge(client_.key, 1, std::chrono::steady_clock::now());
  if (wait >= service_.options.limits.handshakes.longest_wait) co_return false;
  co_await Pause(wait);
  limit_.Within(service_.options.limits.header_time);
  co_return !aborted_;
}

asio::awaitable<bool> Connection::ServeOne() {
  Exchange exchange;
  std::optional<Refusal> refusal;
  const auto length = co_await ReadHead(refusal);
  if (!length && !refusal) co_return false;
  exchange.begun = std::chrono::steady_clock::now();
  exchange.request.head.peer = client_.peer;
  if (length) {
    refusal = service_.entrance.Read(in_.view().substr(0, *length), exchange);
    in_.Consume(*length);
  }
  if (exchange.request.id.empty()) exchange.request.id = base::RandomId("req");
  if (!refusal) refusal = service_.entrance.Admit(exchange, client_.local);
  co_await Meet(exchange, refusal);
  // A request that was refused before its body was read leaves that body on the connection.
  if (refusal && exchange.framing.HasBody()) exchange.framing.keep_alive = false;
  const bool passed_on = !refusal && exchange.route->body == BodyRule::kTunnel;
  const bool whole = refusal || passed_on || co_await ReadBody(exchange, refusal);
  Response response;
  if (whole && !refusal) refusal = co_await Handle(exchange, response);
  base::BudgetShare answer = ShareOf(exchange.request.caller, service_.memory);
  if (const std::uint64_t bytes = refusal ? 0 : WaitingBytes(response); bytes != 0) {
    if (const auto shortage = answer.Grow(bytes)) refusal = NoRoomForAnswer(*shortage);
  }
  if (refusal) response = Refuse(exchange, *refusal);
  if (!whole || aborted_) {
    Log(exchange, 0, 0);
    co_return false;
  }
  const int status = response.status;
  const Sent sent = co_await Send(exchange, std::move(response));
  Log(exchange, sent.status.value_or(status), sent.bytes);
  co_return sent.keep_alive;
}

// Notes which tenant the connection belongs to now, and charges them for a refusal: it is made on the socket thread.
asio::awaitable<void> Connection::Meet(Exchange& exchange, std::optional<Refusal>& refusal) {
  const Caller& caller = exchange.request.caller;
  const bool known = !caller.id.empty();
  const bool measured = client_.peer.transport != Transport::kUnix;
  if (known && !service_.places.Show(place_, PayerOf(caller))) {
    refusal = TooManyConnections();
    exchange.framing.keep_alive = false;
  }
  is_known_ = known;
  if (measured) payer_ = known ? PayerOf(caller) : "from " + client_.key;
  if (!known && refusal && refusal->status == kUnauthorised) {
    co_await Mistrust(exchange, refusal);
  } else if (refusal) {
    co_await Pace(kRefusalCost);
  }
}

// A request without a valid token waits for its answer, the longer the more such requests come from its address. A
// valid token never waits, so that one client cannot shut out others of the same address.
asio::awaitable<void> Connection::Mistrust(Exchange& exchange, std::optional<Refusal>& refusal) {
  service_.places.Distrust(place_);
  const auto wait = service_.mistakes.Charge(client_.key, 1, std::chrono::steady_clock::now());
  const bool throttled = wait >= kManyMistakes;
  if (service_.options.on_mistake) service_.options.on_mistake({.address = client_.key, .throttled = throttled});
  co_await Pause(wait);
  if (!throttled) co_return;
  refusal = TooManyMistakes();
  exchange.framing.keep_alive = false;
}

// Waits until the bytes that this tenant moves are within the tenant's share of the socket thread.
asio::awaitable<void> Connection::Pace(double cost) {
  if (payer_.empty()) co_return;
  base::FlowLimiter& flow = is_known_ ? service_.flow : service_.strangers;
  co_await Pause(flow.Charge(payer_, cost, std::chrono::steady_clock::now()));
}

asio::awaitable<void> Connection::Pause(std::chrono::milliseconds time) {
  if (time.count() == 0 || aborted_) co_return;
  limit_.Off();
  pause_.expires_after(time);
  co_await pause_.async_wait(asio::as_tuple(asio::use_awaitable));
}

// The time for a head runs from its first byte to its last: sending it letter by letter gains nothing.
asio::awaitable<std::optional<std::size_t>> Connection::ReadHead(std::optional<Refusal>& refusal) {
  const Limits& limits = service_.options.limits;
  HeadScanner scanner(limits.header_bytes);
  phase_ = in_.empty() ? Phase::kIdle : Phase::kHead;
  in_.ShrinkTo(kReadSize);
  if (!first_) limit_.Within(phase_ == Phase::kIdle ? limits.idle_time : limits.header_time);
  for (;;) {
    const auto found = scanner.Scan(in_.view());
    if (!found) refusal = found.error();
    if (refusal || *found) phase_ = Phase::kBusy;
    if (phase_ == Phase::kBusy) limit_.Off();
    if (refusal) co_return std::nullopt;
    if (*found) co_return **found;
    const std::size_t got = co_await channel_.Read(in_.Prepare(kReadSize));
    if (got == 0) co_return std::nullopt;
    in_.Commit(got);
    if (phase_ == Phase::kIdle && !first_) limit_.Within(limits.header_time);
    phase_ = Phase::kHead;
  }
}

// False: the client is gone.
asio::awaitable<bool> Connection::ReadBody(Exchange& exchange, std::optional<Refusal>& refusal) {
  if (!exchange.framing.HasBody()) co_return true;
  if (exchange.framing.expects_continue && in_.empty()) {
    if (!co_await WriteAll("HTTP/1.1 100 Continue\r\n\r\n")) co_return false;
  }
  const bool there = co_await CollectBody(exchange, refusal);
  limit_.Off();
  in_.ShrinkTo(kReadSize);
  if (refusal) exchange.framing.keep_alive = false;
  if (refusal && refusal->status == 413 && exchange.route->body == BodyRule::kNone)
    refusal = Refusal{.status = 400, .code = "invalid_argument", .message = "this request has no body"};
  co_return there;
}

asio::awaitable<bool> Connection::CollectBody(Exchange& exchange, std::optional<Refusal>& refusal) {
  const BodyLimits limits = LimitsOf(exchange, service_.options);
  const auto& budget = limits.keeping == Keeping::kSpool ? service_.options.spool_budget : service_.memory;
  BodyCollector collector(limits, ShareOf(exchange.request.caller, budget));
  if (exchange.framing.content_length) refusal = collector.Expect(*exchange.framing.content_length);
  if (refusal) co_return true;
  BodyDecoder decoder(exchange.framing);
  std::size_t pieces = 0;
  while (!decoder.done()) {
    if (in_.empty()) {
      limit_.Within(service_.options.limits.body_time);
      const std::size_t got = co_await channel_.Read(in_.Prepare(decoder.WorthReading(kBodyReadSize)));
      if (got == 0) co_return false;
      in_.Commit(got);
      co_await Pace(static_cast<double>(got));
    }
    refusal = TakeBody(in_, decoder, collector, pieces);
    if (refusal) co_return true;
    co_await Pace(kPieceCost * static_cast<double>(std::exchange(pieces, 0)));
  }
  auto body = collector.Finish();
  if (body) exchange.request.body = std::move(*body);
  if (!body) refusal = std::move(body).error();
  co_return true;
}

std::optional<Refusal> Connection::TakeThread(const Caller& caller) {
  constexpr std::size_t kEighth = 8;
  const std::size_t all = service_.options.limits.requests_at_once;
  const std::size_t most = client_.peer.transport == Transport::kUnix ? all : all - all / kEighth;
  if (service_.requests >= most) return Busy();
  if (caller.requests_per_second != 0) {
    std::size_t& own = service_.requests_of[PayerOf(caller)];
    if (own >= service_.options.limits.requests_per_caller) return TooMany();
    ++own;
  }
  ++service_.requests;
  return std::nullopt;
}

void Connection::GiveThreadBack(const Caller& caller) {
  --service_.requests;
  if (caller.requests_per_second == 0) return;
  const auto own = service_.requests_of.find(PayerOf(caller));
  if (own != service_.requests_of.end() && --own->second == 0) service_.requests_of.erase(own);
}

asio::awaitable<std::optional<Refusal>> Connection::Handle(Exchange& exchange, Response& response) {
  const Route& route = *exchange.route;
  const bool on_worker = route.where == Where::kWorker;
  const Caller& caller = exchange.request.caller;
  if (on_worker) {
    if (auto refusal = TakeThread(caller)) co_return refusal;
  }
  gone_ = std::stop_source();
  exchange.request.gone = gone_.get_token();
  bool taken = true;
  if (on_worker) {
    if (route.watch == Watch::kDisconnect) LookAt(Watched::kHandler);
    taken = co_await RunOnWorker(exchange, response);
    LookAt(Watched::kNothing);
    GiveThreadBack(caller);
  } else {
    response = CallHandler(exchange);
  }
  if (!taken) co_return Busy();
  if (gone_.stop_requested()) Abort();
  if (std::holds_alternative<std::unique_ptr<Conversation>>(response.body) && !CanUpgrade(exchange)) {
    exchange.framing.keep_alive = exchange.framing.keep_alive && in_.empty();
    co_return NeedsUpgrade();
  }
  const bool is_tunnel = std::holds_alternative<Tunnel>(response.body);
  // The body has not been read, and will not be.
  if (route.body == BodyRule::kTunnel && !is_tunnel && exchange.framing.HasBody()) exchange.framing.keep_alive = false;
  if (route.body != BodyRule::kTunnel && is_tunnel)
    co_return RefusalOf({base::Code::kInternal, "a tunnel on a route that has none"});
  ++service_.served;
  co_return std::nullopt;
}

// The exchange outlives the work: this coroutine waits for it, whatever becomes of the client.
asio::awaitable<bool> Connection::RunOnWorker(Exchange& exchange, Response& response) {
  Event done(*service_.loop);
  std::function<void()> work = [&exchange, &response, &done, loop = service_.loop] {
    response = CallHandler(exchange);
    // Closed here and not on the socket thread: closing a large file that has no name takes time.
    exchange.request.body = {};
    asio::post(*loop, [&done] { done.Notify(); });
  };
  if (!service_.workers.Submit(std::move(work))) co_return false;
  co_await done.Wait();
  co_return true;
}

Response Connection::Refuse(const Exchange& exchange, const Refusal& refusal) {
  ++service_.refused;
  Response response = RefusalIn(exchange.dialect, refusal, exchange.request.id);
  for (const auto& [name, value] : refusal.headers.fields()) response.headers.Set(name, value);
  return response;
}

bool Connection::StaysOpen(const Exchange& exchange) const {
  return exchange.framing.keep_alive && !aborted_ && !service_.draining;
}

bool Connection::CanUpgrade(const Exchange& exchange) const {
  return exchange.framing.upgrade && in_.empty();
}

void Connection::Log(const Exchange& exchange, int status, std::uint64_t bytes) const {
  if (!service_.options.log) return;
  const auto took = std::chrono::steady_clock::now() - exchange.begun;
  AccessRecord record{.request_id = exchange.request.id,
                      .caller = exchange.request.caller.id,
                      .peer = client_.peer.address,
                      .method = exchange.request.head.method,
                      .path = exchange.path,
                      .route = exchange.route == nullptr ? "" : exchange.route->pattern,
                      .status = status,
                      .bytes = bytes,
                      .took = std::chrono::duration_cast<std::chrono::microseconds>(took),
                      .trace = exchange.request.trace,
                      .trace_parent = exchange.request.trace_parent};
  service_.options.log(record);
}

// If the socket were just closed, a client that still sends would get a reset instead of the answer.
asio::awaitable<void> Connection::Leave() {
  if (aborted_) co_return;
  limit_.Within(kLinger);
  co_await channel_.Finish();
  while (!aborted_ && co_await channel_.Read(in_.Prepare(kReadSize)) > 0) {
  }
  channel_.Close();
}

void Connection::Abort() {
  aborted_ = true;
  channel_.Close();
  gone_.request_stop();
  pause_.cancel();
  if (on_abort_) on_abort_();
}

void Connection::Drain() {
  if (phase_ == Phase::kIdle) return Abort();
  if (on_drain_) on_drain_();
}

void Connection::LookAt(Watched what) {
  watched_ = what;
  next_look_ = TimePoint::min();
}

void Connection::Follow(const Exchange* exchange, std::function<void()> on_revoked) {
  followed_ = exchange;
  on_revoked_ = std::move(on_revoked);
  revoked_ = false;
  next_token_look_ = std::chrono::steady_clock::now() + kLookAtToken;
}

void Connection::LookAtToken(TimePoint now) {
  if (followed_ == nullptr || revoked_ || now < next_token_look_) return;
  next_token_look_ = now + kLookAtToken;
  revoked_ = !AuthenticatorOf(service_.options, *followed_->dialect).Holds(followed_->request.caller);
  if (revoked_) on_revoked_();
}

void Connection::Tick(TimePoint now) {
  if (aborted_) return;
  if (limit_.Passed(now)) return Abort();
  if (on_tick_) return on_tick_(now);
  LookAtToken(now);
  if (watched_ == Watched::kNothing || now < next_look_) return;
  next_look_ = now + (watched_ == Watched::kHandler ? kLookAtHandler : kLookAtStream);
  if (!channel_.PeerIsGone()) return;
  if (watched_ == Watched::kStream) return Abort();
  gone_.request_stop();
}

}  // namespace skerry::transport::http
