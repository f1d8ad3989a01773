#include "cli/event_feed.hpp"

#include <utility>

#include "cli/answer.hpp"
#include "json/text.hpp"
#include "workspace/session_directory.hpp"

namespace skerry::cli {

using Json = nlohmann::ordered_json;
using net::WebSocket;

bool MayPass(const base::Error& error) {
  return error.code == base::Code::kUnavailable || error.code == base::Code::kRateLimited ||
         error.code == base::Code::kTimeout;
}

base::Status EventFeed::Open() {
  if (session_) SKERRY_RETURN_IF_ERROR(workspace::CheckSessionReference(*session_));
  const auto after = last_ ? std::optional(std::to_string(*last_)) : std::nullopt;
  socket_.reset();
  SKERRY_ASSIGN_OR_RETURN(
      WebSocket opened,
      daemon_.Connect(WithQuery("/v1/events", {{"types", types_}, {"session", session_}, {"after", after}})));
  socket_.emplace(std::move(opened));
  return {};
}

base::Result<std::optional<Json>> EventFeed::Lose(base::Error error) {
  socket_.reset();
  return std::unexpected(std::move(error));
}

base::Result<std::optional<Json>> EventFeed::Next(base::Deadline deadline) {
  constexpr base::Code kLost = base::Code::kUnavailable;
  if (!socket_) return base::Err(kLost, "there is no connection to the daemon");
  auto message = socket_->Receive(deadline);
  if (!message && message.error().code == base::Code::kTimeout) return std::optional<Json>();
  if (!message) return Lose(std::move(message).error());
  if (message->kind == WebSocket::Kind::kClosed)
    return Lose({kLost, "the daemon ended the connection" + (message->bytes.empty() ? "" : ": " + message->bytes)});
  Json event = json::Parse(message->bytes);
  if (!event.is_object()) return Lose({kLost, "the daemon said something that is no event"});
  if (const std::uint64_t sequence = NumberIn(event, "sequence"); sequence != 0) last_ = sequence;
  return std::optional(std::move(event));
}

}  // namespace skerry::cli
