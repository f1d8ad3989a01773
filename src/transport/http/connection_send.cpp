// Sends the answers of a connection.
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "transport/http/answer_text.hpp"
#include "transport/http/chunks.hpp"
#include "transport/http/connection.hpp"
#include "transport/http/tunnel.hpp"
#include "transport/http/websocket.hpp"

namespace skerry::transport::http {
namespace {

constexpr std::size_t kPiece = std::size_t{256} << 10U;
constexpr std::size_t kCopyUpTo = std::size_t{64} << 10U;  // a body up to this size is sent together with its head

bool IsHead(const Exchange& exchange) {
  return exchange.request.head.method == "HEAD";
}

bool HasNoBody(int status) {
  return status < 200 || status == 204 || status == 304;
}

AnswerHead HeadOf(const Exchange& exchange, const Response& response, bool keep_alive) {
  return {.status = response.status,
          .headers = &response.headers,
          .request_id = exchange.request.id,
          .trace = exchange.traceparent,
          .version = exchange.version,
          .keep_alive = keep_alive};
}

}  // namespace

asio::awaitable<Connection::Sent> Connection::Send(Exchange& exchange, Response response) {
  if (std::holds_alternative<std::unique_ptr<Conversation>>(response.body))
    co_return co_await SendConversation(exchange, std::move(response));
  if (std::holds_alternative<Tunnel>(response.body)) co_return co_await SendTunnel(exchange, std::move(response));
  if (std::holds_alternative<std::unique_ptr<Stream>>(response.body))
    co_return co_await SendStream(exchange, std::move(response));
  if (std::holds_alternative<FileBody>(response.body)) co_return co_await SendFile(exchange, std::move(response));
  co_return co_await SendText(exchange, std::move(response));
}

asio::awaitable<bool> Connection::WriteAll(std::string_view bytes) {
  while (!bytes.empty()) {
    limit_.Within(service_.options.limits.write_time);
    const std::size_t written = co_await channel_.Write(bytes);
    limit_.Off();
    if (written == 0) co_return false;
    bytes.remove_prefix(written);
  }
  co_return !aborted_;
}

asio::awaitable<Connection::Sent> Connection::SendText(Exchange& exchange, Response response) {
  const bool keep_alive = StaysOpen(exchange);
  const std::string& body = std::get<std::string>(response.body);
  AnswerHead head = HeadOf(exchange, response, keep_alive);
  head.coding = HasNoBody(response.status) ? Coding::kNoBody : Coding::kLength;
  head.length = body.size();
  std::string text = Compose(head);
  const std::string_view content = IsHead(exchange) || HasNoBody(response.status) ? std::string_view() : body;
  const bool together = content.size() <= kCopyUpTo;
  if (together) text += content;
  bool sent = co_await WriteAll(text);
  if (sent && !together) sent = co_await WriteAll(content);
  if (!together) co_await Pace(static_cast<double>(content.size()));
  co_return Sent{.bytes = content.size(), .keep_alive = sent && keep_alive};
}

asio::awaitable<Connection::Sent> Connection::SendFile(Exchange& exchange, Response response) {
  const bool keep_alive = StaysOpen(exchange);
  const FileBody& file = std::get<FileBody>(response.body);
  AnswerHead head = HeadOf(exchange, response, keep_alive);
  head.length = file.length;
  const std::string text = Compose(head);
  if (!co_await WriteAll(text)) co_return Sent{};
  const std::uint64_t length = IsHead(exchange) ? 0 : file.length;
  std::string piece;
  for (std::uint64_t done = 0; done < length;) {
    piece.resize(static_cast<std::size_t>(std::min<std::uint64_t>(kPiece, length - done)));
    const ssize_t got = ::pread(file.fd.get(), piece.data(), piece.size(), static_cast<off_t>(file.offset + done));
    if (got < 0 && errno == EINTR) continue;
    // The file became shorter: the client has been told its length, and must not take the half for the whole.
    if (got <= 0) Abort();
    if (got <= 0 || !co_await WriteAll(std::string_view(piece).substr(0, static_cast<std::size_t>(got))))
      co_return Sent{.bytes = done};
    done += static_cast<std::uint64_t>(got);
    co_await Pace(static_cast<double>(got));
  }
  co_return Sent{.bytes = length, .keep_alive = keep_alive};
}

asio::awaitable<Connection::Sent> Connection::SendStream(Exchange& exchange, Response response) {
  const bool chunks = exchange.version == Version::kHttp11;
  const bool keep_alive = chunks && StaysOpen(exchange);
  AnswerHead head = HeadOf(exchange, response, keep_alive);
  head.coding = IsHead(exchange) ? Coding::kNoBody : chunks ? Coding::kChunked : Coding::kUntilClose;
  const std::string text = Compose(head);
  Sent sent;
  bool whole = false;
  if (IsHead(exchange)) {
    whole = co_await WriteAll(text);
  } else {
    const auto stream = std::move(std::get<std::unique_ptr<Stream>>(response.body));
    Event wake(*service_.loop);
    const auto waker = std::make_shared<Waker>(service_.loop, [&wake] { wake.Notify(); });
    on_abort_ = [&wake] { wake.Notify(); };
    Follow(&exchange, on_abort_);
    // Before the head goes out: a client that has seen the head misses nothing that happens from then on.
    stream->Begin(waker->Function());
    whole =
        co_await WriteAll(text) && co_await Pump(*stream, chunks ? Coding::kChunked : Coding::kUntilClose, wake, sent);
    Follow(nullptr, nullptr);
    on_abort_ = nullptr;
    waker->Disarm();
  }
  sent.keep_alive = whole && keep_alive && !service_.draining;
  co_return sent;
}

namespace {

// A library below may run out of memory: that ends this stream and nothing else.
std::optional<Pull> NextOf(Stream& stream, std::string& piece) {
  try {
    return stream.Next(piece);
  } catch (const std::exception&) {
    return std::nullopt;
  }
}

}  // namespace

asio::awaitable<bool> Connection::Pump(Stream& stream, Coding coding, Event& wake, Sent& sent) {
  std::string piece;
  std::string frame;
  for (;;) {
    piece.clear();
    const std::optional<Pull> next = revoked_ ? Pull::kEnd : NextOf(stream, piece);
    if (!next) co_return false;
    const Pull pull = *next;
    sent.bytes += piece.size();
    if (coding == Coding::kChunked && !piece.empty()) frame = ChunkOf(piece);
    if (coding == Coding::kChunked && pull == Pull::kEnd) frame += kLastChunk;
    if (!co_await WriteAll(coding == Coding::kChunked ? frame : piece)) co_return false;
    frame.clear();
    if (pull == Pull::kEnd) co_return true;
    if (!piece.empty()) co_await Pace(static_cast<double>(piece.size()) + kMessageCost);
    if (aborted_) co_return false;
    // A stream that gives nothing and does not wait must not hold up other connections.
    if (pull == Pull::kMore && piece.empty()) co_await asio::post(asio::use_awaitable);
    if (pull == Pull::kMore) continue;
    // Most streams wait most of the time, and need no buffers then.
    std::string().swap(piece);
    std::string().swap(frame);
    LookAt(Watched::kStream);
    co_await wake.Wait();
    LookAt(Watched::kNothing);
    if (aborted_) co_return false;
  }
}

asio::awaitable<Connection::Sent> Connection::SendConversation(Exchange& exchange, Response response) {
  WebSocketCall call{.service = service_,
                     .channel = channel_,
                     .limit = limit_,
                     .payer = payer_,
                     .on_abort = on_abort_,
                     .on_revoked = on_revoked_,
                     .revoked = revoked_,
                     .head = exchange.request.head,
                     .request_id = exchange.request.id,
                     .trace = exchange.traceparent,
                     .conversation = *std::get<std::unique_ptr<Conversation>>(response.body)};
  Follow(&exchange, [] {});
  const std::uint64_t bytes = co_await Converse(call);
  Follow(nullptr, nullptr);
  on_abort_ = nullptr;
  Abort();
  co_return Sent{.bytes = bytes};
}

// A tunnel whose stream has no socket takes a thread for as long as it is open.
asio::awaitable<Connection::Sent> Connection::SendTunnel(Exchange& exchange, Response response) {
  Tunnel& tunnel = std::get<Tunnel>(response.body);
  const Caller& caller = exchange.request.caller;
  const bool needs_thread = tunnel.stream != nullptr && tunnel.stream->fd() < 0;
  TunnelEnd end;
  if (needs_thread) end.refusal = TakeThread(caller);
  if (!end.refusal) {
    TunnelCall call{.service = service_,
                    .channel = channel_,
                    .in = in_,
                    .payer = payer_,
                    .exchange = exchange,
                    .tunnel = tunnel,
                    .abort = [this] { Abort(); },
                    .on_abort = on_abort_,
                    .on_tick = on_tick_,
                    .on_drain = on_drain_};
    ++service_.tunnels;
    end = co_await Pass(call);
    --service_.tunnels;
    if (needs_thread) GiveThreadBack(caller);
  }
  if (!end.refusal || aborted_) co_return Sent{.bytes = end.bytes, .keep_alive = end.keep_alive, .status = end.status};
  // Bytes that the client sent, or still sends, were meant for the program: they are no request.
  if (exchange.framing.HasBody() || exchange.framing.any_upgrade) exchange.framing.keep_alive = false;
  Response refused = Refuse(exchange, *end.refusal);
  const int status = refused.status;
  Sent sent = co_await Send(exchange, std::move(refused));
  sent.status = status;
  co_return sent;
}

}  // namespace skerry::transport::http
