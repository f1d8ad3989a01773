#include "net/client.hpp"

#include <algorithm>
#include <utility>

#include "net/connection.hpp"
#include "net/request_text.hpp"

namespace skerry::net {
namespace {

// Where a connection waits for the next request.
using Place = std::unique_ptr<Connection>;
using Sent = Connection::Sent;

bool SameName(std::string_view one, std::string_view other) {
  const auto small = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
  return std::ranges::equal(one, other, {}, small, small);
}

// Tells the piece of a fed body how it is written, and holds it to the size that was promised.
class Feeding {
 public:
  explicit Feeding(const OutgoingRequest& request) : request_(request), left_(request.feed_size.value_or(0)) {}

  // Nothing is left to be written.
  [[nodiscard]] bool IsOver() const { return over_ || (request_.feed_size && left_ == 0); }

  // "" at the end.
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

base::Status WriteFed(Connection& connection, const OutgoingRequest& request, base::Deadline deadline) {
  Feeding feeding(request);
  for (;;) {
    SKERRY_ASSIGN_OR_RETURN(std::string bytes, feeding.Next());
    if (bytes.empty()) return {};
    SKERRY_ASSIGN_OR_RETURN(const Sent sent, connection.Write(std::move(bytes), deadline));
    if (sent == Sent::kAll) continue;
    if (!feeding.IsOver()) connection.LeaveRequest();
    return {};
  }
}

base::Result<AnswerHead> Exchange(Connection& connection, const Endpoint& endpoint, const OutgoingRequest& request,
                                  base::Deadline deadline) {
  using Body = Connection::AnswerBody;
  connection.BeginExchange(request.method == "HEAD" ? Body::kNone : Body::kAsItSays);
  std::string head = HeadOf(endpoint, request);
  if (!request.feed) head += request.body;
  SKERRY_ASSIGN_OR_RETURN(const Sent sent, connection.Write(std::move(head), deadline));
  if (request.feed && sent == Sent::kStopped) connection.LeaveRequest();
  if (request.feed && sent == Sent::kAll) SKERRY_RETURN_IF_ERROR(WriteFed(connection, request, deadline));
  return connection.ReadHead(deadline);
}

bool MayBeRepeated(const OutgoingRequest& request, const Connection& connection, const base::Error& error) {
  if (error.code != base::Code::kUnavailable || connection.HasReceived()) return false;
  return (request.method == "GET" && !request.feed) || !connection.HasSent();
}

}  // namespace

struct Incoming::State {
  std::unique_ptr<Connection> connection;  // none after the end
  std::weak_ptr<Place> place;
  AnswerHead head;
};

Incoming::Incoming(std::unique_ptr<State> state) : state_(std::move(state)) {}
Incoming::Incoming(Incoming&&) noexcept = default;
Incoming::~Incoming() = default;

int Incoming::status() const {
  return state_->head.status;
}

std::optional<std::string> Incoming::Header(std::string_view name) const {
  for (const auto& [candidate, value] : state_->head.headers)
    if (SameName(candidate, name)) return value;
  return std::nullopt;
}

base::Result<std::string> Incoming::Read(base::Deadline deadline) {
  if (!state_->connection) return std::string();
  SKERRY_ASSIGN_OR_RETURN(std::string bytes, state_->connection->ReadBody(deadline));
  if (!bytes.empty()) return bytes;
  auto connection = std::exchange(state_->connection, nullptr);
  const auto place = state_->place.lock();
  if (place && connection->CanBeUsedAgain()) *place = std::move(connection);
  return std::string();
}

base::Result<std::string> Incoming::ReadAll(std::size_t limit, base::Deadline deadline) {
  std::string all;
  for (;;) {
    SKERRY_ASSIGN_OR_RETURN(const std::string bytes, Read(deadline));
    if (bytes.empty()) return all;
    if (bytes.size() > limit - all.size())
      return base::Err(base::Code::kTooLarge, "the answer has more than " + std::to_string(limit) + " bytes");
    all += bytes;
  }
}

struct Client::State {
  Endpoint endpoint;
  std::shared_ptr<Place> place = std::make_shared<Place>();

  // The connection that waits, if it still is one.
  std::unique_ptr<Connection> TakeWaiting() const {
    auto connection = std::exchange(*place, nullptr);
    return connection && connection->StillThere() ? std::move(connection) : nullptr;
  }

  [[nodiscard]] Incoming AnswerOn(std::unique_ptr<Connection> connection, AnswerHead head) const {
    auto state = std::make_unique<Incoming::State>();
    state->connection = std::move(connection);
    state->place = place;
    state->head = std::move(head);
    return Incoming(std::move(state));
  }
};

Client::Client(Endpoint endpoint) : state_(std::make_unique<State>(State{.endpoint = std::move(endpoint)})) {}
Client::Client(Client&&) noexcept = default;
Client::~Client() = default;

base::Result<Incoming> Client::Send(OutgoingRequest request, base::Deadline deadline) {
  SKERRY_RETURN_IF_ERROR(CheckRequest(state_->endpoint, request));
  if (auto waiting = state_->TakeWaiting()) {
    auto head = Exchange(*waiting, state_->endpoint, request, deadline);
    if (head) return state_->AnswerOn(std::move(waiting), std::move(*head));
    if (!MayBeRepeated(request, *waiting, head.error())) return std::unexpected(head.error());
  }
  SKERRY_ASSIGN_OR_RETURN(auto connection, Connection::Open(state_->endpoint, deadline));
  SKERRY_ASSIGN_OR_RETURN(AnswerHead head, Exchange(*connection, state_->endpoint, request, deadline));
  return state_->AnswerOn(std::move(connection), std::move(head));
}

base::Result<WebSocket> Client::Connect(const std::string& target, base::Deadline deadline) {
  SKERRY_RETURN_IF_ERROR(CheckRequest(state_->endpoint, {.target = target}));
  return WebSocket::Open(state_->endpoint, target, deadline);
}

const Endpoint& Client::endpoint() const {
  return state_->endpoint;
}

}  // namespace skerry::net
