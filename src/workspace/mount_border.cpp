#include "workspace/mount_border.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <charconv>
#include <cstring>
#include <iterator>

#include "workspace/path_errors.hpp"

namespace skerry::workspace {

bool FactsAt(int directory, const char* name, Facts& facts) {
  constexpr unsigned kWanted = STATX_BASIC_STATS | STATX_MNT_ID;
  const int flags = AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT | (*name == '\0' ? AT_EMPTY_PATH : 0);
  return ::statx(directory, name, flags, kWanted, &facts) == 0;
}

bool SameThing(const Facts& left, const Facts& right) {
  return left.stx_ino == right.stx_ino && left.stx_dev_major == right.stx_dev_major &&
         left.stx_dev_minor == right.stx_dev_minor;
}

MountBorder::MountBorder(int root) {
  (void)FactsAt(root, "", root_);  // when this fails, nothing lies in the border
}

bool MountBorder::Holds(const Facts& facts) const {
  if ((facts.stx_mask & root_.stx_mask & STATX_MNT_ID) != 0) return facts.stx_mnt_id == root_.stx_mnt_id;
  return facts.stx_dev_major == root_.stx_dev_major && facts.stx_dev_minor == root_.stx_dev_minor;
}

OwnName::OwnName(int fd) {
  const std::size_t stem = std::strlen(text_);
  *std::to_chars(text_ + stem, std::end(text_) - 1, fd).ptr = '\0';
}

base::Result<base::UniqueFd> OpenHeld(const base::UniqueFd& handle, int flags) {
  struct stat facts{};
  if (::fstat(handle.get(), &facts) < 0) return PathErr();
  if (S_ISLNK(facts.st_mode)) return base::Err(base::Code::kConflict, "is a link");
  if (!S_ISREG(facts.st_mode) && !S_ISDIR(facts.st_mode)) return base::Err(base::Code::kConflict, "is no regular file");
  const int real = (flags & ~O_NOFOLLOW) | O_NONBLOCK | O_CLOEXEC | O_NOCTTY;
  base::UniqueFd fd(::open(OwnName(handle.get()).c_str(), real));
  if (!fd.valid()) return PathErr();
  return fd;
}

base::Result<base::UniqueFd> OpenFileIn(int directory, const std::string& name, const MountBorder& border, int flags) {
  const base::UniqueFd handle(::openat(directory, name.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
  Facts facts{};
  if (!handle.valid() || !FactsAt(handle.get(), "", facts)) return PathErr();
  if (!border.Holds(facts)) return PathErr(EXDEV);
  if (IsDirectory(facts)) return PathErr(EISDIR);
  return OpenHeld(handle, flags);
}

}  // namespace skerry::workspace
