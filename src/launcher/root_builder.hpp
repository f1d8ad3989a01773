// Builds the sandbox's root in its mount namespace and moves into it. After clone: no allocation, failures end the
// child.
#pragma once

#include "launcher/sandbox_child.hpp"

namespace skerry::launcher {

// When it returns, nothing of the host can be named any longer but what the plan brought in.
void BuildRoot(const ChildPlan& plan);

// The shared part alone, as the root of a mount namespace that sandboxes start from copies of.
void BuildTemplate(const ChildPlan& plan);

}  // namespace skerry::launcher
