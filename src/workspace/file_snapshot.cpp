#include "workspace/file_snapshot.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <iterator>
#include <memory>
#include <string_view>

#include "base/unique_fd.hpp"
#include "os/errno_error.hpp"

namespace skerry::workspace {
namespace {

struct CloseDirectory {
  void operator()(DIR* directory) const { ::closedir(directory); }
};

bool IsDirectory(int parent, const dirent& entry) {
  if (entry.d_type != DT_UNKNOWN) return entry.d_type == DT_DIR;
  struct stat facts{};
  return ::fstatat(parent, entry.d_name, &facts, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(facts.st_mode);
}

// Depth is bounded, so recursion and open descriptors are too.
void Collect(base::UniqueFd fd, const std::string& prefix, std::size_t depth, FileSnapshot& snapshot) {
  const std::unique_ptr<DIR, CloseDirectory> directory(::fdopendir(fd.get()));
  if (directory == nullptr) return;
  const int directory_fd = fd.Release();
  while (const dirent* entry = ::readdir(directory.get())) {
    const std::string_view name = entry->d_name;
    if (name == "." || name == "..") continue;
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
    if (child.valid()) Collect(std::move(child), path + "/", depth + 1, snapshot);
  }
}

}  // namespace

base::Result<FileSnapshot> FileSnapshot::Take(const std::string& root) {
  base::UniqueFd fd(::open(root.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!fd.valid()) return os::ErrnoErr(root);
  FileSnapshot snapshot;
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
