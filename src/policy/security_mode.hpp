// How much isolation a run needs at least, whatever its request asks for (S1.4, S1.5).
#pragma once

#include "core/abilities.hpp"

namespace skerry::policy {

enum class SecurityMode {
  kStrict,      // production, the default: everything runs isolated
  kPermissive,  // development: what the request asks for
};

// True when programs may run in a sandbox of this strength in this mode.
bool Allows(SecurityMode mode, core::Strength strength);

}  // namespace skerry::policy
