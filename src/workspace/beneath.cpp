#include "workspace/beneath.hpp"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <climits>

#include "os/directory.hpp"
#include "os/errno_error.hpp"

namespace skerry::workspace {
namespace {

base::UniqueFd OpenAt2(int root, const std::string& path, int flags, std::uint64_t resolve) {
  open_how how{};
  how.flags = static_cast<std::uint64_t>(flags | O_CLOEXEC);
  how.resolve = resolve;
  constexpr int kTries = 32;  // EAGAIN: another process renamed something while ".." was being resolved
  long fd = -1;
  for (int tries = 0; tries < kTries && fd < 0; ++tries) {
    fd = ::syscall(SYS_openat2, root, path.empty() ? "." : path.c_str(), &how, sizeof how);
    if (fd < 0 && errno != EAGAIN && errno != EINTR) break;
  }
  return base::UniqueFd(static_cast<int>(fd));
}

// The name under which exactly this open file or directory can be opened or changed again, whatever its path has
// become.
std::string OwnName(int fd) {
  return "/proc/self/fd/" + std::to_string(fd);
}

base::Result<struct stat> FactsOf(const base::UniqueFd& fd) {
  struct stat facts{};
  if (::fstat(fd.get(), &facts) < 0) return os::ErrnoErr("stat");
  return facts;
}

}  // namespace

base::Result<base::UniqueFd> OpenBeneath(int root, const std::string& path, int flags) {
  constexpr std::uint64_t kResolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS | RESOLVE_NO_XDEV;
  base::UniqueFd fd = OpenAt2(root, path, flags | O_NOFOLLOW, kResolve);
  if (fd.valid()) return fd;
  if (errno == EXDEV) return base::Err(base::Code::kPermissionDenied, "another file system is mounted there");
  if (errno == ELOOP) return base::Err(base::Code::kPermissionDenied, "a link is in its way");
  return os::ErrnoErr("cannot be opened");
}

base::UniqueFd OpenAgain(int fd, int flags) {
  return base::UniqueFd(::open(OwnName(fd).c_str(), flags | O_CLOEXEC));
}

base::UniqueFd FollowBeneath(int root, const std::string& path) {
  return OpenAt2(root, path, O_PATH, RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS);
}

base::UniqueFd WalkBeneath(int root, const std::string& path) {
  return OpenAt2(root, path, O_PATH | O_NOFOLLOW, RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS);
}

base::Result<base::UniqueFd> OpenFileBeneath(int root, const std::string& path, Locked locked) {
  SKERRY_ASSIGN_OR_RETURN(const base::UniqueFd handle, OpenBeneath(root, path, O_PATH));
  SKERRY_ASSIGN_OR_RETURN(const struct stat facts, FactsOf(handle));
  if (!S_ISREG(facts.st_mode)) return base::Err(base::Code::kNotFound, "is no file");
  constexpr int kFlags = O_RDONLY | O_NONBLOCK | O_CLOEXEC;
  const std::string own_name = OwnName(handle.get());
  base::UniqueFd fd(::open(own_name.c_str(), kFlags));
  if (!fd.valid() && errno == EACCES && locked == Locked::kUnlock) {
    const mode_t mode = facts.st_mode & ALLPERMS;
    if (::chmod(own_name.c_str(), mode | S_IRUSR) < 0) return os::ErrnoErr("cannot be unlocked");
    fd.Reset(::open(own_name.c_str(), kFlags));
    (void)::chmod(own_name.c_str(), mode);
  }
  if (!fd.valid()) return os::ErrnoErr("cannot be opened");
  return fd;
}

base::Result<base::UniqueFd> OpenDirectoryBeneath(int root, const std::string& path, Locked locked) {
  if (locked == Locked::kUnlock && ::geteuid() != 0) {  // nothing is locked to root
    SKERRY_ASSIGN_OR_RETURN(const base::UniqueFd handle, OpenBeneath(root, path, O_PATH | O_DIRECTORY));
    SKERRY_ASSIGN_OR_RETURN(const struct stat facts, FactsOf(handle));
    const mode_t mode = facts.st_mode & ALLPERMS;
    if ((mode & S_IRWXU) != S_IRWXU) (void)::chmod(OwnName(handle.get()).c_str(), mode | S_IRWXU);
  }
  return OpenBeneath(root, path, O_RDONLY | O_DIRECTORY);
}

base::Result<Place> FindPlace(int root, const std::string& path) {
  Place place;
  SKERRY_ASSIGN_OR_RETURN(place.parent, OpenBeneath(root, std::string(ParentOf(path)), O_PATH | O_DIRECTORY));
  place.name = NameOf(path);
  struct stat facts{};
  if (::fstatat(place.parent.get(), place.name.c_str(), &facts, AT_SYMLINK_NOFOLLOW) == 0) {
    place.entry = facts;
  } else if (errno != ENOENT) {
    return os::ErrnoErr("cannot be looked at");
  }
  return place;
}

base::Result<std::vector<std::string>> NamesIn(base::UniqueFd directory, std::size_t limit) {
  const os::Directory listing = os::ListingOf(std::move(directory));
  if (listing == nullptr) return os::ErrnoErr("cannot be listed");
  std::vector<std::string> names;
  for (;;) {
    errno = 0;
    const dirent* entry = ::readdir(listing.get());
    if (entry == nullptr) break;
    if (os::IsDots(entry->d_name)) continue;
    if (names.size() >= limit) return base::Err(base::Code::kTooLarge, "holds more than can be listed");
    names.emplace_back(entry->d_name);
  }
  if (errno != 0) return os::ErrnoErr("cannot be listed");
  return names;
}

std::string JoinPath(std::string_view directory, std::string_view name) {
  std::string path(directory);
  if (!path.empty()) path += '/';
  return path.append(name);
}

std::string_view ParentOf(std::string_view path) {
  const std::size_t slash = path.find_last_of('/');
  return slash == std::string_view::npos ? std::string_view() : path.substr(0, slash);
}

std::string_view NameOf(std::string_view path) {
  const std::size_t slash = path.find_last_of('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

std::size_t DepthOf(std::string_view path) {
  return path.empty() ? 0 : 1 + static_cast<std::size_t>(std::ranges::count(path, '/'));
}

bool IsBelow(std::string_view path, std::string_view directory) {
  if (directory.empty()) return !path.empty();
  return path.size() > directory.size() && path.starts_with(directory) && path[directory.size()] == '/';
}

bool PathBefore(std::string_view left, std::string_view right) {
  // The separator sorts before every other byte; a name has no NUL.
  constexpr auto kRank = [](char byte) { return byte == '/' ? 0 : static_cast<unsigned char>(byte); };
  return std::ranges::lexicographical_compare(left, right, {}, kRank, kRank);
}

}  // namespace skerry::workspace
