#include "workspace/file_snapshot.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include "base/unique_fd.hpp"
#include "os/directory.hpp"
#include "os/errno_error.hpp"

namespace skerry::workspace {
namespace {

FileSnapshot::Stamp StampOf(const struct stat& facts) {
  return {.device = facts.st_dev,
          .inode = facts.st_ino,
          .size = static_cast<std::uint64_t>(facts.st_size),
          .mode = facts.st_mode,
          .seconds = facts.st_ctim.tv_sec,
          .nanoseconds = facts.st_ctim.tv_nsec};
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
    if (snapshot.files.size() >= FileSnapshot::kMaxFiles || depth >= FileSnapshot::kMaxDepth) {
      snapshot.complete = false;
      return;
    }
    const std::string path = prefix + entry->d_name;
    struct stat facts{};
    if (::fstatat(directory_fd, entry->d_name, &facts, AT_SYMLINK_NOFOLLOW) < 0) continue;  // gone since
    if (!S_ISDIR(facts.st_mode)) {
      snapshot.files.emplace(path, StampOf(facts));
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

FileSnapshot::Differences FileSnapshot::Until(const FileSnapshot& later) const {
  Differences differences;
  if (!complete || !later.complete) return differences;
  for (const auto& [path, stamp] : later.files) {
    const auto before = files.find(path);
    if (before == files.end()) differences.created.push_back(path);
    if (before != files.end() && before->second != stamp) differences.changed.push_back(path);
  }
  for (const auto& [path, stamp] : files)
    if (!later.files.contains(path)) differences.deleted.push_back(path);
  return differences;
}

}  // namespace skerry::workspace
