#include "net/incoming.hpp"

#include <utility>

#include "net/incoming_state.hpp"
#include "net/patience.hpp"

namespace skerry::net {

Incoming::Incoming(std::unique_ptr<State> state) : state_(std::move(state)) {}
Incoming::Incoming(Incoming&&) noexcept = default;
Incoming::~Incoming() = default;

int Incoming::status() const {
  return state_->head.status;
}

std::optional<std::string> Incoming::Header(std::string_view name) const {
  return state_->head.Header(name);
}

base::Result<std::string> Incoming::Read(base::Deadline deadline, const std::stop_token& stop) {
  if (!state_->connection) return std::string();
  Patience patience(deadline, stop);
  SKERRY_ASSIGN_OR_RETURN(std::string bytes, state_->connection->ReadBody(patience));
  if (!bytes.empty()) return bytes;
  auto connection = std::exchange(state_->connection, nullptr);
  const auto kept = state_->kept.lock();
  if (kept && connection->CanBeUsedAgain()) kept->Keep(std::move(connection));
  return std::string();
}

base::Result<std::string> Incoming::ReadAll(std::size_t limit, base::Deadline deadline, const std::stop_token& stop) {
  std::string all;
  for (;;) {
    SKERRY_ASSIGN_OR_RETURN(const std::string bytes, Read(deadline, stop));
    if (bytes.empty()) return all;
    if (bytes.size() > limit - all.size())
      return base::Err(base::Code::kTooLarge, "the answer has more than " + std::to_string(limit) + " bytes");
    all += bytes;
  }
}

}  // namespace skerry::net
