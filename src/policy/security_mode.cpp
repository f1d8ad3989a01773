#include "policy/security_mode.hpp"

#include "base/utf8.hpp"

namespace skerry::policy {

std::string_view NameOf(SecurityMode mode) {
  return mode == SecurityMode::kStrict ? "strict" : "permissive";
}

base::Result<SecurityMode> ParseSecurityMode(std::string_view name) {
  for (const SecurityMode mode : {SecurityMode::kStrict, SecurityMode::kPermissive})
    if (NameOf(mode) == name) return mode;
  return base::Err(base::Code::kInvalidArgument,
                   "unknown mode '" + base::ToValidUtf8(name) + "'; use strict or permissive");
}

bool Allows(SecurityMode mode, core::IsolationLevel isolation) {
  return mode == SecurityMode::kPermissive || isolation == core::IsolationLevel::kNamespaces;
}

}  // namespace skerry::policy
