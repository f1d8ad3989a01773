// Deed: what a principal does, as the audit names it.
#pragma once

#include <string>

#include "engine/audit_shares.hpp"

namespace skerry::engine {

struct Deed {
  // A deed that cannot be recorded is not done, unless it ends or frees something.
  using Weight = AuditShares::Weight;
  std::string event;
  std::string session;  // the id; "" for none
  Weight weight = Weight::kUsual;
};

}  // namespace skerry::engine
