// Deed: what a principal does, as the audit names it.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "engine/audit_shares.hpp"

namespace skerry::engine {

struct Deed {
  // A deed that cannot be recorded is not done, unless it ends or frees something.
  using Weight = AuditShares::Weight;
  std::string event;
  std::string session;  // the id; "" for none
  Weight weight = Weight::kUsual;
};

// What a deed is about, in the order in which the audit has it: names, sizes and hashes.
struct Detail {
  std::string name;  // of a member of the record
  std::variant<std::string, std::uint64_t, std::int64_t, bool> value;
};
using Details = std::vector<Detail>;

}  // namespace skerry::engine
