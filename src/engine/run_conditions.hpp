// Under what conditions a program would run: what a person is told, and what an approval is about.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "core/execution.hpp"
#include "engine/sandbox_manager.hpp"

namespace skerry::engine {

// Of everything that decides what the program can do.
base::Result<std::string> DigestOf(const core::ExecutionRequest& request, std::string_view backend,
                                   const RunWorkspace& workspace, const ManagerOptions& options);

// In words and in order; see confirm::Question.
std::vector<std::pair<std::string, std::string>> ConditionsOf(const core::ExecutionRequest& request,
                                                              std::string_view backend, const RunWorkspace& workspace,
                                                              const ManagerOptions& options);

}  // namespace skerry::engine
