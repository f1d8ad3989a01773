// DiskRoom: what tenants may still fill of the daemon's disk. The rest is a reserve for its owner and for bookkeeping.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "base/result.hpp"

namespace skerry::engine {

// Thread-safe.
class DiskRoom {
 public:
  // `directory` says which disk; it need not exist yet. On a small disk the reserve is a twentieth, if that is less.
  DiskRoom(std::string directory, std::uint64_t reserve) : directory_(std::move(directory)), reserve_(reserve) {}

  // Bytes left outside of the reserve; the highest number where there is no reserve, or where the disk does not tell.
  [[nodiscard]] std::uint64_t Left() const;
  // The same for files and uploads, which may be large: leaves as much again free, for small beginnings of other
  // tenants.
  [[nodiscard]] std::uint64_t LeftForLarge() const;

 private:
  [[nodiscard]] std::uint64_t LeftBeside(std::uint64_t reserves) const;

  std::string directory_;
  std::uint64_t reserve_;
};

// The error of a request that does not fit: kUnavailable, and IsNoRoom recognises it.
[[nodiscard]] std::unexpected<base::Error> NoRoom(const std::string& what_and_what_next);
[[nodiscard]] std::unexpected<base::Error> NoRoomOnDisk();
[[nodiscard]] bool IsNoRoom(const base::Error& error);

}  // namespace skerry::engine
