// Under what conditions a program would run: what a person is told, and what an approval is about.
#pragma once

#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "core/execution.hpp"
#include "engine/named_files.hpp"
#include "engine/sandbox_manager.hpp"
#include "engine/tree_look.hpp"

namespace skerry::engine {

// The program that would run, and where. Borrowed.
struct RunConditions {
  const core::ExecutionRequest& request;
  std::string_view backend;
  core::Strength strength;
  const RunWorkspace& workspace;
  int files = -1;  // the workspace as programs see it now; -1 for none
  const ManagerOptions& options;
  const RunInput& input;       // that the program reads
  std::string_view execution;  // the run's id
  // For a cell in a session's sandbox: how many cells its context has run. An approval of such a cell holds once.
  std::optional<std::uint64_t> cells = {};
};

// The files that the request names, as they are now.
NamedFilesFound FilesNamedBy(const RunConditions& run, const std::stop_token& stop);

// Everything that decides what the program can do, with the content of the named files and of the others that it could
// find.
ProposalLook LookAt(const RunConditions& run, const NamedFilesFound& named, const TreeLook& around);

}  // namespace skerry::engine
