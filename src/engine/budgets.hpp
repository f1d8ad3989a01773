// What tenants may fill of the daemon's disk.
#pragma once

#include <cstdint>

namespace skerry::engine {

// In bytes; 0: any number.
struct Budgets {
  struct Share {
    std::uint64_t each = 0;  // of one tenant
    std::uint64_t all = 0;   // of all tenants
  };
  Share output;                                            // what runs wrote
  Share spool;                                             // uploads and answers on their way
  Share record;                                            // results and history
  Share audit;                                             // `each` is for a day
  std::uint64_t record_of_run = std::uint64_t{16} << 20U;  // names of files in the record of one run
  std::uint64_t reserve = 0;                               // of the disk, for the owner and for bookkeeping
};

}  // namespace skerry::engine
