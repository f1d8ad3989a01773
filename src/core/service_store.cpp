#include "core/service_store.hpp"

#include <array>
#include <utility>

#include "core/names.hpp"

namespace skerry::core {
namespace {

constexpr std::array kScopes = {std::pair{TokenScope::kRead, std::string_view("read")},
                                std::pair{TokenScope::kRun, std::string_view("run")},
                                std::pair{TokenScope::kApprove, std::string_view("approve")},
                                std::pair{TokenScope::kAdmin, std::string_view("admin")},
                                std::pair{TokenScope::kMetrics, std::string_view("metrics")}};

constexpr std::array kStates = {std::pair{RunState::kWaiting, std::string_view("waiting")},
                                std::pair{RunState::kRunning, std::string_view("running")},
                                std::pair{RunState::kDone, std::string_view("done")},
                                std::pair{RunState::kLost, std::string_view("lost")}};

}  // namespace

std::string_view NameOf(TokenScope scope) {
  return NameIn(kScopes, scope);
}

std::optional<TokenScope> ParseTokenScope(std::string_view name) {
  return ValueIn(kScopes, name);
}

std::string_view NameOf(RunState state) {
  return NameIn(kStates, state);
}

std::optional<RunState> ParseRunState(std::string_view name) {
  return ValueIn(kStates, name);
}

}  // namespace skerry::core
