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

// What would run, and where. Borrowed.
struct RunConditions {
  const core::ExecutionRequest& request;
  std::string_view backend;
  const RunWorkspace& workspace;
  int files = -1;  // the workspace as programs see it now; -1 for none
  const ManagerOptions& options;
  int input = -1;              // that it reads; -1 for none
  std::string_view execution;  // the run
};

// Of everything that decides what the program can do, with the content of the files that it names.
ProposalDigests DigestsOf(const RunConditions& run);

// In words and in order; see confirm::Question.
std::vector<std::pair<std::string, std::string>> ConditionsOf(const RunConditions& run);

}  // namespace skerry::engine
