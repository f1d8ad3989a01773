// Principal: for whom something is done.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "engine/scopes.hpp"
#include "watch/trace.hpp"

namespace skerry::engine {

inline constexpr std::string_view kLocalTenant = "local";  // of the daemon's owner

struct Principal {
  std::string id;      // who it is, for the record
  std::string tenant;  // whose things the principal may touch
  Scopes scopes;
  bool owner = false;  // the daemon's owner: may use what is kept in reserve
  // The principal's own ceilings; 0: any number. Other limits come from the configuration (engine/views/ceilings.hpp).
  std::uint64_t most_runs = 0;  // at once
  std::uint64_t most_sessions = 0;
  std::string request;        // the request's id, for the record
  std::string from;           // where the request comes from, for the record: "uid 1000", "10.0.0.7:4711"
  watch::TraceContext trace;  // of the request

  // May touch the things of all tenants.
  [[nodiscard]] bool everybody() const { return scopes.Has(core::TokenScope::kAdmin); }
  [[nodiscard]] bool Sees(const std::string& of_tenant) const { return everybody() || of_tenant == tenant; }
};

}  // namespace skerry::engine
