// What waiting costs: memory and CPU of sandboxes that nobody uses.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "bench/stand.hpp"

namespace skerry::bench {

// What this process and its descendants use, as the kernel tells it.
struct ProcessFacts {
  std::uint64_t own_bytes = 0;       // this process; proportional share where it may be read, else resident
  std::uint64_t launcher_bytes = 0;  // its child
  std::uint64_t zygote_bytes = 0;    // interpreters outside of sandboxes
  std::uint64_t inside_bytes = 0;    // everything in sandboxes
  std::uint64_t own_descriptors = 0;
  std::uint64_t launcher_descriptors = 0;
  std::uint64_t cgroups = 0;    // of Skerry, on the whole machine
  std::uint64_t cpu_ticks = 0;  // of all but this process

  static ProcessFacts Look();
};

struct Footprint {
  std::string kind;  // "without an interpreter", "python", …
  std::uint64_t parked = 0;
  double user_mb = 0;      // of one sandbox: its processes
  double system_mb = 0;    // of one sandbox: what the whole machine had less available; other load shows in it
  double cpu_percent = 0;  // of one core, all together, while nothing happens
};

// For 0, 10 and 100 of each kind.
base::Result<std::vector<Footprint>> MeasureFootprints(Stand& stand);

std::string ToTable(const std::vector<Footprint>& footprints);

}  // namespace skerry::bench
