#include "net/incoming.hpp"

#include <algorithm>
#include <utility>

#include "net/incoming_state.hpp"
#include "net/patience.hpp"

namespace skerry::net {
namespace {

bool SameName(std::string_view one, std::string_view other) {
  const auto small = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
  return std::ranges::equal(one, other, {}, small, small);
}

}  // namespace

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
