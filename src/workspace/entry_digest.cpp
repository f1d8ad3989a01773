#include "workspace/entry_digest.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <vector>

#include "base/sha256.hpp"
#include "os/errno_error.hpp"
#include "os/files.hpp"

namespace skerry::workspace {

base::Result<std::string> DigestOfFile(int fd) {
  constexpr std::size_t kBlock = std::size_t{64} << 10U;
  base::Sha256 hash;
  std::vector<char> block(kBlock);
  for (off_t at = 0;;) {
    const ssize_t count = ::pread(fd, block.data(), block.size(), at);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return os::ErrnoErr("cannot be read");
    if (count == 0) return hash.FinishHex();
    hash.Update({block.data(), static_cast<std::size_t>(count)});
    at += count;
  }
}

base::Result<std::string> DigestOfEntry(const Place& place) {
  if (place.HoldsLink()) {
    SKERRY_ASSIGN_OR_RETURN(const std::string target, os::ReadLink(place.parent.get(), place.name));
    return base::Sha256Hex(target);
  }
  if (!place.HoldsFile()) return base::Err(base::Code::kConflict, "is neither a file nor a link");
  SKERRY_ASSIGN_OR_RETURN(const base::UniqueFd fd, OpenFileBeneath(place.parent.get(), place.name, Locked::kUnlock));
  return DigestOfFile(fd.get());
}

base::Result<core::FileChange> DescribeEntry(const std::string& path, const Place& place, core::FileAction action) {
  core::FileChange change{.path = path, .action = action};
  SKERRY_ASSIGN_OR_RETURN(change.sha256, DigestOfEntry(place));
  change.kind = place.HoldsLink() ? core::FileKind::kLink : core::FileKind::kFile;
  change.size = static_cast<std::uint64_t>(place.entry->st_size);
  change.mode = place.entry->st_mode & ACCESSPERMS;
  return change;
}

}  // namespace skerry::workspace
