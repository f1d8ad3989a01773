// The guard that is left when sandboxing is disabled (S4.6).
#pragma once

#include <string>

#include "core/risk.hpp"

namespace skerry::policy {

// Why code must not run without a sandbox, or "". No approval changes that: code that the risk policy refuses or calls
// critical, that deletes trees, becomes another user, or changes the system.
std::string BlockedLocally(const core::RiskAssessment& risk);

}  // namespace skerry::policy
