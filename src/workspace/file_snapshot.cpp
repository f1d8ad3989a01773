#include "workspace/file_snapshot.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <iterator>

#include "base/unique_fd.hpp"
#include "os/directory.hpp"
#include "os/errno_error.hpp"

namespace skerry::workspace {
namespace {

bool IsDirectory(int parent, const dirent& entry) {
  if (entry.d_type != DT_UNKNOWN) return entry.d_type == DT_DIR;
  struct stat facts{};
  return ::fstatat(parent, entry.d_name, &facts, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(facts.st_mode);
}

// Depth is bounded, so recursion and open descriptors are too.
void Collect(base::UniqueFd fd, const std::string& prefix, std::size_t depth, FileSnapshot& snapshot) {
  const os::Directory directory = os::ListingOf(std::move(fd));
  if (directory == nullptr) {
    snapshot.complete = false;
    return;
  }
  const int directory_fd = ::dirfd(directory.get());
  while (const dirent* entry = ::readdir(directory.get())) {
    if (os::IsDots(entry->d_name)) continue;
    if (snapshot.paths.size() >= FileSnapshot::kMaxFiles || depth >= FileSnapshot::kMaxDepth) {
      snapshot.complete = false;
      return;
    }
    const std::string path = prefix + entry->d_name;
    if (!IsDirectory(directory_fd, *entry)) {
      snapshot.paths.insert(path);
      continue;
    }
    base::UniqueFd child(::openat(directory_fd, entry->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    // What a program closed to us is not known to be empty.
    snapshot.complete = snapshot.complete && child.valid();
    if (child.valid()) Collect(std::move(child), path + "/", depth + 1, snapshot);
  }
}

}  // namespace

base::Result<FileSnapshot> FileSnapshot::Take(int directory) {
  base::UniqueFd fd(::openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  FileSnapshot snapshot;
  if (!fd.valid() && errno == EACCES) snapshot.complete = false;
  if (!fd.valid()) return snapshot.complete ? base::Result<FileSnapshot>(os::ErrnoErr("list the workspace")) : snapshot;
  Collect(std::move(fd), "", 0, snapshot);
  return snapshot;
}

std::vector<std::string> FileSnapshot::CreatedSince(const FileSnapshot& later) const {
  std::vector<std::string> created;
  if (!complete || !later.complete) return created;
  std::ranges::set_difference(later.paths, paths, std::back_inserter(created));
  return created;
}

}  // namespace skerry::workspace
