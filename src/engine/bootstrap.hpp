// What a new workspace starts with (S4.2, S4.7).
#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"
#include "workspace/agent_workspace.hpp"

namespace skerry::engine {

// Makes the directories code, data, output, artifacts, temp and .memory, and in .memory task_plan.md, findings.md and
// progress.md, each with a title.
base::Result<workspace::AgentWorkspace::Changes> MakeLayout(workspace::AgentWorkspace& files);

// Copies the files in `source`/init, the directory `source`/skills, and, where there is no init, the `listed` files of
// `source`. Links that lead out of the source, and special files, are left out. kNotFound when there is no source.
base::Result<workspace::AgentWorkspace::Changes> CopySource(const std::string& source,
                                                            const std::vector<std::string>& listed,
                                                            workspace::AgentWorkspace& files);

}  // namespace skerry::engine
