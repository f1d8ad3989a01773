#include "engine/archive_spool.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>

#include "engine/disk_room.hpp"
#include "os/errno_error.hpp"
#include "os/files.hpp"

namespace skerry::engine {

namespace {

std::unexpected<base::Error> NoShare(base::Shortage shortage, const base::BudgetShare& share) {
  if (shortage == base::Shortage::kOwn)
    return base::Err(base::Code::kRateLimited,
                     "bodies of this tenant that are on their way take all of the " +
                         std::to_string(share.budget()->limits().each >> 20U) +
                         " MB that they may (sandbox.budgets.spoolPerTenantMb); wait for one of them, or ask for less");
  return NoRoom(shortage == base::Shortage::kAll
                    ? "bodies that are on their way take all of the room that they may "
                      "(sandbox.budgets.spoolMb); try again soon"
                    : "the disk of the daemon is nearly full; try again later, or ask its owner to free some "
                      "space");
}

}  // namespace

base::Result<ArchiveSpool> ArchiveSpool::Make(const std::string& directory, std::stop_token gone,
                                              base::BudgetShare share) {
  SKERRY_ASSIGN_OR_RETURN(base::UniqueFd file, os::NamelessFile(directory));
  return ArchiveSpool(std::move(file), std::move(gone), std::move(share));
}

base::Status ArchiveSpool::Write(std::string_view bytes) {
  if (gone_.stop_requested()) return base::Err(base::Code::kUnavailable, "nobody waits for the archive any more");
  const bool nothing = bytes.find_first_not_of('\0') == std::string_view::npos;
  if (nothing) {
    size_ += bytes.size();
    return {};
  }
  if (const auto shortage = share_.Grow(bytes.size())) return NoShare(*shortage, share_);
  while (!bytes.empty()) {
    const ssize_t count = ::pwrite(file_.get(), bytes.data(), bytes.size(), static_cast<off_t>(size_));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && (errno == ENOSPC || errno == EDQUOT))
      return base::Err(base::Code::kUnavailable, "no room on the disk of the daemon for the archive");
    if (count < 0) return os::ErrnoErr("write the archive");
    size_ += static_cast<std::uint64_t>(count);
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
  return {};
}

base::Result<ArchiveSpool::Whole> ArchiveSpool::Finish() && {
  if (::ftruncate(file_.get(), static_cast<off_t>(size_)) < 0) return os::ErrnoErr("write the archive");
  return Whole{.file = std::move(file_), .size = size_, .share = std::move(share_)};
}

}  // namespace skerry::engine
