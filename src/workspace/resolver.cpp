#include "workspace/resolver.hpp"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <utility>

#include "workspace/path_errors.hpp"
#include "workspace/path_walk.hpp"

namespace skerry::workspace {
namespace {

constexpr std::size_t kMaxName = 255;
constexpr std::size_t kMaxPath = 4000;  // the kernel takes 4095, including a prefix
constexpr std::uint64_t kInside = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS | RESOLVE_NO_XDEV;
constexpr int kAlways = O_CLOEXEC | O_NONBLOCK | O_NOCTTY;

std::atomic<bool> openat2_is_missing = false;  // a kernel does not change

base::UniqueFd OpenAt2(int root, const char* path, int flags, std::uint64_t resolve) {
  open_how how{};
  how.flags = static_cast<std::uint64_t>(flags | ((flags & O_PATH) != 0 ? O_CLOEXEC : kAlways));
  how.resolve = resolve;
  constexpr int kTries = 32;  // EAGAIN: another process renamed something while ".." was being resolved
  long fd = -1;
  for (int tries = 0; tries < kTries && fd < 0; ++tries) {
    fd = ::syscall(SYS_openat2, root, *path == '\0' ? "." : path, &how, sizeof how);
    if (fd < 0 && errno != EAGAIN && errno != EINTR) break;
  }
  return base::UniqueFd(static_cast<int>(fd));
}

// Whether the answer of openat2 is not final: an absolute link may lead to /workspace, and the kernel or a filter of
// system calls may lack openat2.
bool IsForTheWalk(int error_number) {
  if (error_number == ENOSYS) openat2_is_missing = true;
  return error_number == EXDEV || error_number == ELOOP || error_number == EAGAIN || error_number == EINTR ||
         error_number == ENOSYS || error_number == EPERM;
}

bool HasParentName(std::string_view path) {
  return path.find("..") != std::string_view::npos;  // also in "a..b", where the walk does no harm
}

}  // namespace

base::Result<std::string> MapPath(std::string_view path) {
  constexpr auto kInvalid = [](std::string_view what) {
    return base::Err(base::Code::kInvalidArgument, std::string(what));
  };
  if (path.size() > kMaxPath) return kInvalid("the path is longer than 4000 bytes");
  if (path.find('\0') != std::string_view::npos) return kInvalid("the path has a zero byte in it");
  bool may_be_root = path.starts_with('/');
  std::size_t depth = 0;
  std::string mapped;
  mapped.reserve(path.size());
  while (!path.empty()) {
    const std::string_view name = path.substr(0, path.find('/'));
    path.remove_prefix(std::min(name.size() + 1, path.size()));
    if (name.empty() || name == ".") continue;
    if (name.size() > kMaxName) return kInvalid("a name in the path is longer than 255 bytes");
    if (name == ".." && depth == 0) return LeadsOut();
    if (std::exchange(may_be_root, false) && name == kInsideName) continue;
    depth = name == ".." ? depth - 1 : depth + 1;
    if (!mapped.empty()) mapped += '/';
    mapped += name;
  }
  return mapped;
}

Resolver::Resolver(base::UniqueFd root, Way way) : root_(std::move(root)), border_(root_.get()), way_(way) {}

base::Result<base::UniqueFd> Resolver::Open(const std::string& path, int flags) const {
  if (way_ == Way::kWalk || openat2_is_missing) return OpenByWalk(path, flags);
  // Opening a directory, or with O_PATH, does nothing to a fifo or a device that may be there.
  const bool harmless = (flags & (O_PATH | O_DIRECTORY)) != 0;
  base::UniqueFd fd = OpenAt2(root_.get(), path.c_str(), harmless ? flags : O_PATH | (flags & O_NOFOLLOW), kInside);
  if (!fd.valid()) {
    const int error_number = errno;
    if (IsForTheWalk(error_number)) return OpenByWalk(path, flags);
    return PathErr(error_number);
  }
  if (harmless) return fd;
  return OpenHeld(fd, flags);
}

base::Result<base::UniqueFd> Resolver::OpenByWalk(const std::string& path, int flags) const {
  const LastLink last = (flags & O_NOFOLLOW) != 0 ? LastLink::kKeep : LastLink::kFollow;
  SKERRY_ASSIGN_OR_RETURN(Walked walked, PathWalk(root_.get(), border_).Run(path, last));
  if (!walked.entry.valid()) return PathErr(ENOENT);
  struct stat facts{};
  if (::fstat(walked.entry.get(), &facts) < 0) return PathErr();
  if ((flags & O_DIRECTORY) != 0 && !S_ISDIR(facts.st_mode)) return PathErr(ENOTDIR);
  if ((flags & O_PATH) != 0) return std::move(walked.entry);
  return OpenHeld(walked.entry, flags);
}

base::Result<Place> Resolver::Find(const std::string& path, LastLink last) const {
  SKERRY_ASSIGN_OR_RETURN(Located located, Locate(path, last));
  return std::move(located.place);
}

base::Result<Resolver::Located> Resolver::Locate(const std::string& path, LastLink last) const {
  if (way_ == Way::kWalk || openat2_is_missing || path.empty() || HasParentName(path)) return LocateByWalk(path, last);
  Located located;
  const std::string directory(ParentOf(path));
  located.place.parent = OpenAt2(root_.get(), directory.c_str(), O_PATH | O_DIRECTORY, kInside | RESOLVE_NO_SYMLINKS);
  if (!located.place.parent.valid()) {
    const int error_number = errno;
    if (IsForTheWalk(error_number)) return LocateByWalk(path, last);
    return PathErr(error_number);
  }
  located.place.name = NameOf(path);
  struct stat facts{};
  if (::fstatat(located.place.parent.get(), located.place.name.c_str(), &facts, AT_SYMLINK_NOFOLLOW) == 0) {
    located.place.entry = facts;
  } else if (errno != ENOENT) {
    return PathErr();
  }
  if (located.place.HoldsLink() && last == LastLink::kFollow) return LocateByWalk(path, last);
  located.path = path;
  return located;
}

base::Result<Resolver::Located> Resolver::LocateByWalk(const std::string& path, LastLink last) const {
  SKERRY_ASSIGN_OR_RETURN(Walked walked, PathWalk(root_.get(), border_).Run(path, last));
  if (!walked.parent.valid()) return base::Err(base::Code::kInvalidArgument, "is the workspace itself");
  Located located{.place = {.parent = std::move(walked.parent), .name = std::move(walked.name), .entry = {}},
                  .path = std::move(walked.path)};
  if (walked.entry.valid()) {
    struct stat facts{};
    if (::fstat(walked.entry.get(), &facts) < 0) return PathErr();
    located.place.entry = facts;
  }
  return located;
}

}  // namespace skerry::workspace
