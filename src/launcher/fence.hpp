// The fence: what every process of a sandbox gives up for good, in the right order, whichever way it came in. After
// clone: no allocation.
#pragma once

#include <linux/filter.h>

#include <span>

#include "launcher/protocol.hpp"
#include "os/landlock.hpp"
#include "os/privileges.hpp"

namespace skerry::launcher {

struct Fence {
  Isolation isolation = Isolation::kNamespaces;
  os::ProcessLimits limits;
  int landlock_abi = 0;
  std::span<const os::LandlockRule> landlock_rules;
  std::span<const sock_filter> filter;
};

// The Landlock rules of a sandbox with namespaces, besides those for what is bound into it.
std::span<const os::LandlockRule> NamespaceRules();

// Puts the calling process behind the fence. 0, or an errno; then `step` says what could not be done.
int PutUpFence(const Fence& fence, const char*& step);

}  // namespace skerry::launcher
