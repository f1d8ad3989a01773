#include "transport/v1/archive_spool.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>

#include "os/errno_error.hpp"
#include "os/files.hpp"

namespace skerry::transport::v1 {

base::Result<ArchiveSpool> ArchiveSpool::Make(const std::string& directory, std::stop_token gone) {
  SKERRY_ASSIGN_OR_RETURN(base::UniqueFd file, os::NamelessFile(directory));
  return ArchiveSpool(std::move(file), std::move(gone));
}

base::Status ArchiveSpool::Write(std::string_view bytes) {
  if (gone_.stop_requested()) return base::Err(base::Code::kUnavailable, "nobody waits for the archive any more");
  const bool nothing = bytes.find_first_not_of('\0') == std::string_view::npos;
  if (nothing) {
    size_ += bytes.size();
    return {};
  }
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
  return Whole{.file = std::move(file_), .size = size_};
}

}  // namespace skerry::transport::v1
