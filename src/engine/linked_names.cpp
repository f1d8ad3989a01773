#include "engine/linked_names.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <filesystem>

#include "base/unique_fd.hpp"
#include "os/directory.hpp"
#include "os/files.hpp"
#include "workspace/beneath.hpp"

namespace skerry::engine {

using workspace::JoinPath;
using workspace::ParentOf;

void LinkedNames::LookAbove(std::string_view path) {
  for (std::string_view above = ParentOf(path);; above = ParentOf(above)) {
    if (!seen_.insert(std::string(above)).second) return;  // and so were all directories above it
    Look(std::string(above));
    Look(JoinPath(above, ".git"));
    if (above.empty()) return;
  }
}

void LinkedNames::Look(const std::string& directory) {
  const char* name = directory.empty() ? "." : directory.c_str();
  const os::Directory listing =
      os::ListingOf(base::UniqueFd(::openat(root_, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)));
  if (listing == nullptr) return;
  while (const dirent* entry = ::readdir(listing.get()))
    if (entry->d_type == DT_LNK || entry->d_type == DT_UNKNOWN) Note(directory, entry->d_name);
}

void LinkedNames::Note(const std::string& directory, const std::string& name) {
  const std::string link = JoinPath(directory, name);
  const bool is_protected = paths_.JudgeSymbolicLink(link, policy::InGitDirectory::kNo) ||
                            paths_.Judge(link, policy::InGitDirectory::kNo).reason;
  const auto target = os::ReadLink(root_, link);
  if (!is_protected || !target) return;
  struct stat facts{};
  if (::fstatat(root_, link.c_str(), &facts, 0) == 0) {
    by_identity_.emplace(Identity(facts.st_dev, facts.st_ino), link);
  } else {
    by_path_.emplace((std::filesystem::path(directory) / *target).lexically_normal().string(), link);
  }
}

std::string LinkedNames::OtherNameOf(std::string_view path) const {
  if (by_identity_.empty() && by_path_.empty()) return "";
  for (std::string_view at = path; !at.empty(); at = ParentOf(at)) {
    const std::string below(path.substr(at.size()));
    if (const auto found = by_path_.find(at); found != by_path_.end()) return found->second + below;
    struct stat facts{};
    if (::fstatat(root_, std::string(at).c_str(), &facts, AT_SYMLINK_NOFOLLOW) != 0) continue;
    const auto found = by_identity_.find(Identity(facts.st_dev, facts.st_ino));
    if (found != by_identity_.end()) return found->second + below;
  }
  return "";
}

}  // namespace skerry::engine
