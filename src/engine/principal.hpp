// For whom something is done.
#pragma once

#include <cstdint>
#include <string>

#include "watch/trace.hpp"

namespace skerry::engine {

struct Principal {
  std::string id;               // who, for the record
  std::string tenant;           // whose things they may touch
  bool everybody = false;       // all tenants'
  bool owner = false;           // of the daemon: may use what is kept in reserve
  std::uint64_t most_runs = 0;  // at once; 0: any number
  std::uint64_t most_sessions = 0;
  std::string from;           // where they ask from, for the record: "uid 1000", "10.0.0.7:4711"
  watch::TraceContext trace;  // of what they ask
};

}  // namespace skerry::engine
