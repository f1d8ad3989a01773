#include "core/service_store.hpp"

#include <array>
#include <utility>

namespace skerry::core {
namespace {

constexpr std::array kScopes = {std::pair{TokenScope::kRead, std::string_view("read")},
                                std::pair{TokenScope::kRun, std::string_view("run")},
                                std::pair{TokenScope::kApprove, std::string_view("approve")},
                                std::pair{TokenScope::kAdmin, std::string_view("admin")}};

constexpr std::array kStates = {std::pair{RunState::kWaiting, std::string_view("waiting")},
                                std::pair{RunState::kRunning, std::string_view("running")},
                                std::pair{RunState::kDone, std::string_view("done")},
                                std::pair{RunState::kLost, std::string_view("lost")}};

template <class Table, class Value>
std::string_view NameIn(const Table& table, Value value) {
  for (const auto& [row, name] : table)
    if (row == value) return name;
  return "";
}

template <class Value, class Table>
std::optional<Value> ValueIn(const Table& table, std::string_view name) {
  for (const auto& [value, row] : table)
    if (row == name) return value;
  return std::nullopt;
}

}  // namespace

std::string_view NameOf(TokenScope scope) {
  return NameIn(kScopes, scope);
}

std::optional<TokenScope> ParseTokenScope(std::string_view name) {
  return ValueIn<TokenScope>(kScopes, name);
}

std::string_view NameOf(RunState state) {
  return NameIn(kStates, state);
}

std::optional<RunState> ParseRunState(std::string_view name) {
  return ValueIn<RunState>(kStates, name);
}

}  // namespace skerry::core
