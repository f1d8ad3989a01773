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
  // `directory` says which disk; it need not be there yet. Of a small disk a twentieth is in reserve, if that is less.
  DiskRoom(std::string directory, std::uint64_t reserve) : directory_(std::move(directory)), reserve_(reserve) {}

  // What is left outside of the reserve; everything where there is none, or where the disk does not say.
  [[nodiscard]] std::uint64_t Left() const;
  // The same for what may be large, files and uploads: it leaves as much again for those who begin something small.
  [[nodiscard]] std::uint64_t LeftForLarge() const;

 private:
  [[nodiscard]] std::uint64_t LeftBeside(std::uint64_t reserves) const;

  std::string directory_;
  std::uint64_t reserve_;
};

// An error of what does not fit: kUnavailable, and one that IsNoRoom knows.
[[nodiscard]] std::unexpected<base::Error> NoRoom(const std::string& what_and_what_next);
[[nodiscard]] std::unexpected<base::Error> NoRoomOnDisk();
[[nodiscard]] bool IsNoRoom(const base::Error& error);

}  // namespace skerry::engine
