#include "workspace/find_paths.hpp"

#include <fcntl.h>

#include "base/unique_fd.hpp"
#include "os/directory.hpp"
#include "os/errno_error.hpp"

namespace skerry::workspace {
namespace {

class Search {
 public:
  Search(const base::PathPatterns& patterns, const FindLimits& limits) : patterns_(patterns), limits_(limits) {}

  // Depth is bounded, so recursion and open descriptors are too.
  base::Status Look(base::UniqueFd fd, const std::string& prefix, std::size_t depth) {
    const os::Directory directory = os::ListingOf(std::move(fd));
    if (directory == nullptr) return os::ErrnoErr("list " + prefix);
    while (const dirent* entry = ::readdir(directory.get())) {
      if (os::IsDots(entry->d_name)) continue;
      if (++looked_at_ > limits_.max_looked_at || found_.size() >= limits_.max_found || depth >= limits_.max_depth)
        return base::Err(base::Code::kTooLarge, "too many files to look for patterns in; name the paths themselves");
      const std::string path = prefix + entry->d_name;
      if (patterns_.Matches(path)) {
        found_.push_back(path);
      } else if (patterns_.MayMatchBelow(path)) {
        SKERRY_RETURN_IF_ERROR(Descend(::dirfd(directory.get()), entry->d_name, path, depth));
      }
    }
    return {};
  }

  std::vector<std::string> Take() { return std::move(found_); }

 private:
  base::Status Descend(int parent, const char* name, const std::string& path, std::size_t depth) {
    base::UniqueFd child(::openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (child.valid()) return Look(std::move(child), path + "/", depth + 1);
    // No directory, gone, or closed to this process and so to the sandbox, which has no more rights.
    return {};
  }

  const base::PathPatterns& patterns_;
  FindLimits limits_;
  std::size_t looked_at_ = 0;
  std::vector<std::string> found_;
};

}  // namespace

base::Result<std::vector<std::string>> FindPaths(int directory, const base::PathPatterns& patterns,
                                                 const FindLimits& limits) {
  if (!patterns.MayMatchBelow("")) return std::vector<std::string>{};
  base::UniqueFd fd(::openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!fd.valid()) return os::ErrnoErr("look for patterns");
  Search search(patterns, limits);
  SKERRY_RETURN_IF_ERROR(search.Look(std::move(fd), "", 0));
  return search.Take();
}

}  // namespace skerry::workspace
