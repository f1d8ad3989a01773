// What a new workspace starts with (S4.2, S4.7).
#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"
#include "workspace/agent_workspace.hpp"

namespace skerry::engine {

// The directories code, data, output, artifacts, temp and .memory, and in .memory task_plan.md, findings.md and
// progress.md, each with a title.
base::Result<workspace::AgentWorkspace::Changes> MakeLayout(workspace::AgentWorkspace& files);

// What is in `source`/init, the directory `source`/skills, and, where there is no init, those of `listed` that are in
// `source`. Links that lead out of the source, and what is no file, are left out. A source that is not there is
// kNotFound.
base::Result<workspace::AgentWorkspace::Changes> CopySource(const std::string& source,
                                                            const std::vector<std::string>& listed,
                                                            workspace::AgentWorkspace& files);

}  // namespace skerry::engine
