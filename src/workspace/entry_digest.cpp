#include "workspace/entry_digest.hpp"

#include <sys/stat.h>

#include <cstdint>
#include <utility>

#include "base/sha256.hpp"
#include "os/files.hpp"
#include "workspace/content.hpp"

namespace skerry::workspace {

base::Result<std::string> DigestOfEntry(const Place& place) {
  if (place.HoldsLink()) {
    SKERRY_ASSIGN_OR_RETURN(const std::string target, os::ReadLink(place.parent.get(), place.name));
    return base::Sha256Hex(target);
  }
  if (!place.HoldsFile()) return base::Err(base::Code::kConflict, "is neither a file nor a link");
  SKERRY_ASSIGN_OR_RETURN(const base::UniqueFd fd, OpenFileBeneath(place.parent.get(), place.name, Locked::kUnlock));
  SKERRY_ASSIGN_OR_RETURN(Content content, ContentOf(fd.get(), UINT64_MAX));
  return std::move(content.sha256);
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
