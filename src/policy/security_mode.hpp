// How much isolation is demanded, whatever was asked for (S1.4, S1.5).
#pragma once

#include "core/backend.hpp"

namespace skerry::policy {

enum class SecurityMode {
  kStrict,      // production, the default: everything runs isolated
  kPermissive,  // development: what was asked for
};

// True when a sandbox of this isolation may run in this mode.
bool Allows(SecurityMode mode, core::IsolationLevel isolation);

}  // namespace skerry::policy
