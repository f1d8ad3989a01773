// DiskRoom: what tenants may still fill of the daemon's disk. The rest is a reserve for its owner and for bookkeeping.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.hpp"

namespace skerry::engine {

// Thread-safe.
class DiskRoom {
 public:
  // `directory` is borrowed and says which disk. Of a small disk a twentieth is in reserve, if that is less.
  DiskRoom(int directory, std::uint64_t reserve) : directory_(directory), reserve_(reserve) {}

  // Whether so many bytes more leave the reserve alone. True where the disk does not say.
  [[nodiscard]] bool Has(std::uint64_t bytes) const;
  // The same as an error that IsNoRoom knows.
  [[nodiscard]] base::Status Check(std::uint64_t bytes) const;
  // What is left outside of the reserve.
  [[nodiscard]] std::uint64_t Left() const;

 private:
  int directory_;
  std::uint64_t reserve_;
};

// An error of what does not fit: kUnavailable, and one that IsNoRoom knows.
[[nodiscard]] std::unexpected<base::Error> NoRoom(const std::string& what_and_what_next);
[[nodiscard]] bool IsNoRoom(const base::Error& error);

}  // namespace skerry::engine
