#include "net/client.hpp"

#include <mutex>
#include <utility>

#include "net/incoming_state.hpp"
#include "net/patience.hpp"
#include "net/refusal.hpp"
#include "net/request_text.hpp"
#include "net/retry.hpp"
#include "net/tls.hpp"
#include "net/upgraded_stream.hpp"

namespace skerry::net {
namespace {

using Sent = HttpConnection::Sent;

// Feeding: the pieces of a request's `feed`, framed for the wire and checked against its `feed_size`.
class Feeding {
 public:
  explicit Feeding(const OutgoingRequest& request) : request_(request), left_(request.feed_size.value_or(0)) {}

  // The whole body has been given.
  [[nodiscard]] bool IsOver() const { return over_ || (request_.feed_size && left_ == 0); }

  // The next bytes to write; "" at the end.
  base::Result<std::string> Next() {
    if (over_) return std::string();
    SKERRY_ASSIGN_OR_RETURN(std::string piece, request_.feed());
    over_ = piece.empty();
    if (!request_.feed_size) return over_ ? std::string(kLastChunk) : ChunkOf(piece);
    if (piece.size() > left_ || (over_ && left_ > 0))
      return base::Err(base::Code::kConflict, "what is sent changed its size meanwhile");
    left_ -= piece.size();
    return piece;
  }

 private:
  const OutgoingRequest& request_;
  std::uint64_t left_;
  bool over_ = false;
};

base::Status WriteFed(HttpConnection& connection, const OutgoingRequest& request, Patience& patience) {
  Feeding feeding(request);
  for (;;) {
    SKERRY_ASSIGN_OR_RETURN(const std::string bytes, feeding.Next());
    if (bytes.empty()) return {};
    SKERRY_ASSIGN_OR_RETURN(const Sent sent, connection.Write(bytes, patience));
    if (sent == Sent::kAll && !connection.WantsNoMore()) continue;
    if (!feeding.IsOver()) connection.LeaveRequest();
    return {};
  }
}

using Expected = HttpConnection::Expected;

base::Result<AnswerHead> Exchange(HttpConnection& connection, const Endpoint& endpoint, const OutgoingRequest& request,
                                  Patience& patience, Expected::Switch protocol = Expected::Switch::kNever) {
  const auto body = request.method == "HEAD" ? Expected::Body::kNone : Expected::Body::kAsItSays;
  connection.BeginExchange({.body = body, .protocol = protocol});
  std::string head = HeadOf(endpoint, request);
  if (!request.feed) head += request.body;
  SKERRY_ASSIGN_OR_RETURN(const Sent sent, connection.Write(head, patience));
  if (request.feed && sent == Sent::kStopped) connection.LeaveRequest();
  if (request.feed && sent == Sent::kAll) SKERRY_RETURN_IF_ERROR(WriteFed(connection, request, patience));
  return connection.ReadHead(patience);
}

// For a request that failed on a kept connection: the server may have closed that connection before it saw the request.
bool MayBeSentAgain(const OutgoingRequest& request, const HttpConnection& connection, const base::Error& error) {
  if (error.code != base::Code::kUnavailable || connection.HasReceived()) return false;
  return (request.method == "GET" && !request.feed) || !connection.HasSent();
}

}  // namespace

struct Client::State {
  State(Endpoint whom, const ClientOptions& options)
      : endpoint(std::move(whom)), kept(std::make_shared<KeptConnections>(options.max_kept, options.kept_for)) {}

  // The certificates are read for the first connection and used for all of them.
  base::Result<std::shared_ptr<const TlsContext>> Tls() {
    if (endpoint.kind != Endpoint::Kind::kTls) return nullptr;
    const std::lock_guard lock(mutex);
    if (tls) return tls;
    SKERRY_ASSIGN_OR_RETURN(tls, TlsContext::Make(endpoint));
    return tls;
  }

  base::Result<std::unique_ptr<Socket>> Dial(Patience& patience) {
    SKERRY_ASSIGN_OR_RETURN(const auto context, Tls());
    return Socket::Open(endpoint, context.get(), patience);
  }

  [[nodiscard]] Incoming AnswerOn(std::unique_ptr<HttpConnection> connection, AnswerHead head) const {
    auto state = std::make_unique<Incoming::State>();
    state->connection = std::move(connection);
    state->kept = kept;
    state->head = std::move(head);
    return Incoming(std::move(state));
  }

  base::Result<Incoming> SendOnce(const OutgoingRequest& request, Patience& patience, Reach& reach) {
    reach = Reach::kNotSent;
    if (patience.stop().stop_requested()) return patience.Fault(endpoint.called);
    if (auto waiting = kept->Take()) {
      auto head = Exchange(*waiting, endpoint, request, patience);
      if (waiting->HasSent()) reach = Reach::kMaybeReceived;
      if (head) return AnswerOn(std::move(waiting), std::move(*head));
      if (!MayBeSentAgain(request, *waiting, head.error())) return std::unexpected(head.error());
    }
    SKERRY_ASSIGN_OR_RETURN(auto socket, Dial(patience));
    auto connection = std::make_unique<HttpConnection>(endpoint, std::move(socket));
    auto head = Exchange(*connection, endpoint, request, patience);
    if (connection->HasSent()) reach = Reach::kMaybeReceived;
    if (!head) return std::unexpected(head.error());
    return AnswerOn(std::move(connection), std::move(*head));
  }

  // The error that an answer tells which does not switch to `protocol`.
  std::unexpected<base::Error> NotSwitched(Incoming answer, const std::string& protocol, Patience& patience) const {
    constexpr int kFirstRefusal = 400;
    constexpr std::size_t kMostOfARefusal = std::size_t{64} << 10U;
    if (answer.status() < kFirstRefusal)
      return base::Err(base::Code::kUnavailable, "the " + endpoint.called + " does not switch to " + protocol +
                                                     ": status " + std::to_string(answer.status()));
    const auto body = answer.ReadAll(kMostOfARefusal, patience.deadline(), patience.stop());
    return std::unexpected(ErrorOf(answer.status(), body.value_or(""), endpoint.called));
  }

  base::Result<Upgraded> Upgrade(const OutgoingRequest& request, const std::string& protocol, Patience& patience) {
    constexpr int kSwitchingProtocols = 101;
    if (patience.stop().stop_requested()) return patience.Fault(endpoint.called);
    SKERRY_ASSIGN_OR_RETURN(auto socket, Dial(patience));
    auto connection = std::make_unique<HttpConnection>(endpoint, std::move(socket));
    SKERRY_ASSIGN_OR_RETURN(AnswerHead head,
                            Exchange(*connection, endpoint, request, patience, Expected::Switch::kPossible));
    if (head.status != kSwitchingProtocols || !SameName(head.Header("Upgrade").value_or(""), protocol))
      return NotSwitched(AnswerOn(std::move(connection), std::move(head)), protocol, patience);
    auto released = connection->Release();
    return Upgraded{std::move(head),
                    std::make_unique<UpgradedStream>(endpoint, std::move(released.socket), std::move(released.early))};
  }

  Endpoint endpoint;
  std::shared_ptr<KeptConnections> kept;
  std::mutex mutex;  // of tls
  std::shared_ptr<const TlsContext> tls;
};

Client::Client(Endpoint endpoint, const ClientOptions& options)
    : state_(std::make_unique<State>(std::move(endpoint), options)) {}
Client::Client(Client&&) noexcept = default;
Client::~Client() = default;

base::Result<Incoming> Client::Send(const OutgoingRequest& request, base::Deadline deadline,
                                    const std::stop_token& stop) {
  SKERRY_RETURN_IF_ERROR(CheckRequest(state_->endpoint, request));
  Patience patience(deadline, stop);
  for (int attempt = 1;; ++attempt) {
    Reach reach = Reach::kNotSent;
    auto answer = state_->SendOnce(request, patience, reach);
    const auto pause = PauseBeforeRetry(request, attempt, reach, answer);
    if (pause && patience.Pause(*pause)) continue;
    if (pause && stop.stop_requested()) return patience.Fault(state_->endpoint.called);
    return answer;
  }
}

base::Result<Upgraded> Client::Upgrade(OutgoingRequest request, const std::string& protocol, base::Deadline deadline,
                                       const std::stop_token& stop) {
  request.headers.emplace_back("Connection", "Upgrade");
  request.headers.emplace_back("Upgrade", protocol);
  SKERRY_RETURN_IF_ERROR(CheckRequest(state_->endpoint, request));
  Patience patience(deadline, stop);
  return state_->Upgrade(request, protocol, patience);
}

base::Result<WebSocket> Client::Connect(const WebSocketRequest& request, base::Deadline deadline,
                                        const std::stop_token& stop) {
  SKERRY_RETURN_IF_ERROR(CheckWebSocketRequest(state_->endpoint, request));
  Patience patience(deadline, stop);
  SKERRY_ASSIGN_OR_RETURN(auto socket, state_->Dial(patience));
  return WebSocket::Open(state_->endpoint, std::move(socket), request, patience);
}

const Endpoint& Client::endpoint() const {
  return state_->endpoint;
}

}  // namespace skerry::net
