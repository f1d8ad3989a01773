#include "policy/security_mode.hpp"

namespace skerry::policy {

bool Allows(SecurityMode mode, core::IsolationLevel isolation) {
  return mode == SecurityMode::kPermissive || isolation == core::IsolationLevel::kNamespaces;
}

}  // namespace skerry::policy
