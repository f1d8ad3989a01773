// Builds the sandbox's root in its mount namespace and moves into it. After clone: no allocation, failures end the
// child.
#pragma once

#include <array>

#include "launcher/sandbox_child.hpp"

namespace skerry::launcher {

// The host's files that the plan names, opened before the new root is mounted over some of them.
using TreeFds = std::array<int, kMaxTrees>;

// What steps leave behind for later steps.
struct Site {
  TreeFds fds{};
  WorkspaceViews views;
  const char* blank = nullptr;  // an empty directory that hides others
};

// Carries out the fixed steps; where there is no template the shared steps first.
void BuildFixedRoot(const ChildPlan& plan, Site& site);
// Carries out the steps for what the client asked for. Afterwards nothing of the host can be named any longer but what
// the plan brought in.
void BuildOwnRoot(const ChildPlan& plan, Site& site);

// Carries out the shared steps alone, for the root of a mount namespace of which sandboxes get copies.
void BuildTemplate(const ChildPlan& plan);

}  // namespace skerry::launcher
