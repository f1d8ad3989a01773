// For whom something is done.
#pragma once

#include <cstdint>
#include <string>

#include "engine/scopes.hpp"
#include "watch/trace.hpp"

namespace skerry::engine {

struct Principal {
  std::string id;      // who, for the record
  std::string tenant;  // whose things they may touch
  Scopes scopes;
  bool owner = false;  // of the daemon: may use what is kept in reserve
  // Ceilings of their own; 0: any number. What else is limited is the configuration's (engine/views/ceilings.hpp).
  std::uint64_t most_runs = 0;  // at once
  std::uint64_t most_sessions = 0;
  std::string request;        // its id, for the record
  std::string from;           // where they ask from, for the record: "uid 1000", "10.0.0.7:4711"
  watch::TraceContext trace;  // of what they ask

  // All tenants' things are theirs to touch.
  [[nodiscard]] bool everybody() const { return scopes.Has(core::TokenScope::kAdmin); }
  [[nodiscard]] bool Sees(const std::string& of_tenant) const { return everybody() || of_tenant == tenant; }
};

}  // namespace skerry::engine
