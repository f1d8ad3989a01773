// Builds the sandbox's root in its mount namespace and moves into it. After clone: no allocation, failures end the
// child.
#pragma once

#include <array>

#include "launcher/sandbox_child.hpp"

namespace skerry::launcher {

// The host's files that the plan names, opened before the new root is mounted over some of them.
using TreeFds = std::array<int, kMaxTrees>;

// What the steps leave behind for later ones.
struct Site {
  TreeFds fds{};
  WorkspaceViews views;
  const char* blank = nullptr;  // an empty directory that hides others
};

// The fixed part, after the shared one where there is no template.
void BuildFixedRoot(const ChildPlan& plan, Site& site);
// What was asked for. When it returns, nothing of the host can be named any longer but what the plan brought in.
void BuildOwnRoot(const ChildPlan& plan, Site& site);

// The shared part alone, as the root of a mount namespace that sandboxes start from copies of.
void BuildTemplate(const ChildPlan& plan);

}  // namespace skerry::launcher
