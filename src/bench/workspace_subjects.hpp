// The cost of the workspace: a file read through AgentWorkspace, a commit of many small files, copy-on-write for a run
// that wrote nothing.
#pragma once

#include "bench/baselines.hpp"
#include "core/backend.hpp"

namespace skerry::bench {

// The subjects of the groups whose name begins with "workspace-". Files are made below `directory`, which should be on
// the disk of the sessions, and are removed with the subjects. `backend` is borrowed; without one the group that needs
// a sandbox is left out.
Baselines FindWorkspaceSubjects(const std::string& directory, core::Backend* backend);

}  // namespace skerry::bench
