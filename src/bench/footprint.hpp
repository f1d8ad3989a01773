// What waiting costs: memory and CPU of sandboxes that are not in use.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "bench/stand.hpp"

namespace skerry::bench {

// What this process and its descendants use, as the kernel counts it.
struct ProcessFacts {
  std::uint64_t own_bytes = 0;       // this process; proportional share where it may be read, else resident
  std::uint64_t launcher_bytes = 0;  // the launcher, a child of this process
  std::uint64_t zygote_bytes = 0;    // the zygotes, interpreters outside of sandboxes
  std::uint64_t inside_bytes = 0;    // all processes in sandboxes
  std::uint64_t own_descriptors = 0;
  std::uint64_t launcher_descriptors = 0;
  std::uint64_t cgroups = 0;    // Skerry's, on the whole machine
  std::uint64_t cpu_ticks = 0;  // of all but this process

  static ProcessFacts Look();
};

struct Footprint {
  std::string kind;  // "without an interpreter", "python", …
  std::uint64_t parked = 0;
  double user_mb = 0;      // per sandbox: the memory of its processes
  double system_mb = 0;    // per sandbox: by how much the machine's available memory fell; other load shows in it
  double cpu_percent = 0;  // of one core, for all sandboxes together, while they wait
};

// For 0, 10 and 100 sandboxes of each kind.
base::Result<std::vector<Footprint>> MeasureFootprints(Stand& stand);

std::string ToTable(const std::vector<Footprint>& footprints);

}  // namespace skerry::bench
