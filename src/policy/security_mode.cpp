#include "policy/security_mode.hpp"

namespace skerry::policy {

bool Allows(SecurityMode mode, core::Strength strength) {
  return mode == SecurityMode::kPermissive || strength >= core::Strength::kNamespaces;
}

}  // namespace skerry::policy
