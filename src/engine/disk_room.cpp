#include "engine/disk_room.hpp"

#include <algorithm>
#include <limits>
#include <string_view>

#include "os/disk_space.hpp"

namespace skerry::engine {
namespace {

constexpr std::string_view kMark = "no room: ";
constexpr std::uint64_t kMostOfDisk = 20;  // a twentieth

}  // namespace

std::uint64_t DiskRoom::LeftBeside(std::uint64_t reserves) const {
  const auto space = os::DiskSpaceOf(directory_);
  if (!space || reserve_ == 0) return std::numeric_limits<std::uint64_t>::max();
  const std::uint64_t kept = reserves * std::min(reserve_, space->size / kMostOfDisk);
  return space->free > kept ? space->free - kept : 0;
}

std::uint64_t DiskRoom::Left() const {
  return LeftBeside(1);
}

std::uint64_t DiskRoom::LeftForLarge() const {
  return LeftBeside(2);
}

std::unexpected<base::Error> NoRoomOnDisk() {
  return NoRoom("the disk of the daemon is nearly full; try again later, or ask its owner to free some space");
}

std::unexpected<base::Error> NoRoom(const std::string& what_and_what_next) {
  return base::Err(base::Code::kUnavailable, std::string(kMark) + what_and_what_next);
}

bool IsNoRoom(const base::Error& error) {
  // An error about a file has the file's name in front of the mark.
  return error.code == base::Code::kUnavailable && error.message.contains(kMark);
}

}  // namespace skerry::engine
