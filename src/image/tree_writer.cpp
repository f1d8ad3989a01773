#include "image/tree_writer.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <vector>

#include "os/errno_error.hpp"
#include "os/files.hpp"
#include "os/remove_tree.hpp"

namespace skerry::image {
namespace {

constexpr mode_t kPermissions = 0777;
constexpr mode_t kImpliedDirectory = 0755;
constexpr std::size_t kCopyBytes = std::size_t{128} << 10U;

std::unexpected<base::Error> Refuse(base::Code code, const std::string& path, const std::string& why) {
  return base::Err(code, "the archive is refused: " + archive::QuotedPath(path) + " " + why);
}

// Why the parent of an entry cannot be opened, in terms of the archive.
std::unexpected<base::Error> BadParent(const std::string& path, int error_number) {
  switch (error_number) {
    case ENOTDIR:
      return Refuse(base::Code::kInvalidArgument, path, "is a file, but other entries lie below it");
    case ENOENT:
    case EEXIST:
      return Refuse(base::Code::kInvalidArgument, path, "is a link that leads nowhere, but other entries lie below it");
    case ELOOP:
      return Refuse(base::Code::kPathTraversal, path, "is a link that leads to itself");
    case EXDEV:
      return Refuse(base::Code::kPathTraversal, path, "leads to another file system");
    default:
      return os::ErrnoErr("open " + archive::QuotedPath(path) + " in the tree", error_number);
  }
}

std::array<timespec, 2> TimesOf(const archive::TarEntry& entry) {
  return {timespec{.tv_sec = 0, .tv_nsec = UTIME_OMIT}, entry.mtime};
}

bool IsDirectory(int parent_fd, const std::string& name) {
  struct stat facts{};
  return ::fstatat(parent_fd, name.c_str(), &facts, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(facts.st_mode);
}

bool IsSameFile(int one_fd, const std::string& one, int other_fd, const std::string& other) {
  struct stat a{};
  struct stat b{};
  return ::fstatat(one_fd, one.c_str(), &a, AT_SYMLINK_NOFOLLOW) == 0 &&
         ::fstatat(other_fd, other.c_str(), &b, AT_SYMLINK_NOFOLLOW) == 0 && a.st_dev == b.st_dev &&
         a.st_ino == b.st_ino;
}

base::Result<std::uint64_t> CopyContent(int fd, archive::TarReader& content) {
  std::vector<char> buffer(kCopyBytes);
  for (std::uint64_t copied = 0;;) {
    SKERRY_ASSIGN_OR_RETURN(const std::size_t count, content.ReadContent(buffer));
    if (count == 0) return copied;
    SKERRY_RETURN_IF_ERROR(os::WriteAll(fd, {buffer.data(), count}));
    copied += count;
  }
}

}  // namespace

base::Status TreeWriter::Put(const archive::TarEntry& entry, archive::TarReader& content) {
  SKERRY_RETURN_IF_ERROR(budget_.TakeEntry());
  SKERRY_ASSIGN_OR_RETURN(const archive::EntryPath path, archive::ParseEntryPath(entry.path));
  if (entry.kind == archive::EntryKind::kSpecial) {
    ++counts_.skipped;
    return {};
  }
  if (path.name.empty()) return PutTop(entry);
  SKERRY_ASSIGN_OR_RETURN(const int parent_fd, OpenParent(path.parent));
  ++counts_.entries;
  switch (entry.kind) {
    case archive::EntryKind::kDirectory:
      return PutDirectory(parent_fd, path.name, entry);
    case archive::EntryKind::kSymbolicLink:
      return PutSymbolicLink(parent_fd, path.name, entry);
    case archive::EntryKind::kHardLink:
      return PutHardLink(parent_fd, path.name, entry);
    default:
      return PutFile(parent_fd, path.name, entry, content);
  }
}

base::Result<int> TreeWriter::OpenParent(const std::string& path) {
  if (parent_ && parent_path_ == path) return parent_->fd();
  parent_.reset();  // restores the directory's time before the directory is opened by another path
  base::UniqueFd fd = OpenInTree(root_fd_, path, O_RDONLY | O_DIRECTORY, Links::kInsideTree);
  if (!fd.valid() && errno != ENOENT) return BadParent(path, errno);
  if (!fd.valid()) {
    SKERRY_ASSIGN_OR_RETURN(fd, MakeParents(path));
  }
  parent_.emplace(std::move(fd));
  parent_path_ = path;
  return parent_->fd();
}

// Directories that the archive does not name count as entries: 4096 bytes of a name could ask for 255 of them.
base::Result<base::UniqueFd> TreeWriter::MakeParents(const std::string& path) {
  base::UniqueFd current = OpenInTree(root_fd_, "", O_RDONLY | O_DIRECTORY, Links::kInsideTree);
  for (std::size_t start = 0; start < path.size();) {
    const std::size_t end = std::min(path.find('/', start), path.size());
    const std::string part = path.substr(start, end - start);
    const std::string way = path.substr(0, end);
    base::UniqueFd next = OpenInTree(root_fd_, way, O_RDONLY | O_DIRECTORY, Links::kInsideTree);
    if (!next.valid() && errno != ENOENT) return BadParent(way, errno);
    if (!next.valid()) {
      SKERRY_RETURN_IF_ERROR(budget_.TakeEntry());
      const TimedDirectory above(std::move(current));
      if (::mkdirat(above.fd(), part.c_str(), S_IRWXU) < 0) return BadParent(way, errno);
      if (::fchmodat(above.fd(), part.c_str(), kImpliedDirectory, 0) < 0) return os::ErrnoErr("chmod " + way);
      ++counts_.entries;
      next = OpenInTree(root_fd_, way, O_RDONLY | O_DIRECTORY, Links::kInsideTree);
      if (!next.valid()) return BadParent(way, errno);
    }
    current = std::move(next);
    start = end + 1;
  }
  return current;
}

base::Status TreeWriter::PutTop(const archive::TarEntry& entry) {
  if (entry.kind != archive::EntryKind::kDirectory)
    return Refuse(base::Code::kInvalidArgument, entry.path, "is the top of the tree, but not a directory");
  parent_.reset();
  if (::fchmod(root_fd_, (entry.mode & kPermissions) | S_IRWXU) < 0) return os::ErrnoErr("chmod the tree");
  if (::futimens(root_fd_, TimesOf(entry).data()) < 0) return os::ErrnoErr("set the time of the tree");
  return {};
}

base::Status TreeWriter::PutDirectory(int parent_fd, const std::string& name, const archive::TarEntry& entry) {
  if (::mkdirat(parent_fd, name.c_str(), S_IRWXU) < 0) {
    if (errno != EEXIST) return os::ErrnoErr("make directory " + archive::QuotedPath(entry.path));
    if (!IsDirectory(parent_fd, name)) {
      SKERRY_RETURN_IF_ERROR(os::RemoveTree(parent_fd, name));
      if (::mkdirat(parent_fd, name.c_str(), S_IRWXU) < 0)
        return os::ErrnoErr("make directory " + archive::QuotedPath(entry.path));
    }
  }
  // It is a directory now, and no other process writes here, so there is no link to follow.
  if (::fchmodat(parent_fd, name.c_str(), (entry.mode & kPermissions) | S_IRWXU, 0) < 0)
    return os::ErrnoErr("chmod " + archive::QuotedPath(entry.path));
  if (::utimensat(parent_fd, name.c_str(), TimesOf(entry).data(), AT_SYMLINK_NOFOLLOW) < 0)
    return os::ErrnoErr("set the time of " + archive::QuotedPath(entry.path));
  return {};
}

base::Status TreeWriter::PutFile(int parent_fd, const std::string& name, const archive::TarEntry& entry,
                                 archive::TarReader& content) {
  constexpr int kFlags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
  base::UniqueFd fd(::openat(parent_fd, name.c_str(), kFlags, S_IRUSR | S_IWUSR));
  if (!fd.valid() && errno == EEXIST) {
    SKERRY_RETURN_IF_ERROR(os::RemoveTree(parent_fd, name));
    fd.Reset(::openat(parent_fd, name.c_str(), kFlags, S_IRUSR | S_IWUSR));
  }
  if (!fd.valid()) return os::ErrnoErr("make file " + archive::QuotedPath(entry.path));
  auto copied = CopyContent(fd.get(), content);
  if (!copied) {
    copied.error().message = archive::QuotedPath(entry.path) + ": " + copied.error().message;
    return std::unexpected(copied.error());
  }
  counts_.bytes += *copied;
  if (::fchmod(fd.get(), (entry.mode & kPermissions) | S_IRUSR) < 0)
    return os::ErrnoErr("chmod " + archive::QuotedPath(entry.path));
  if (::futimens(fd.get(), TimesOf(entry).data()) < 0)
    return os::ErrnoErr("set the time of " + archive::QuotedPath(entry.path));
  return {};
}

base::Status TreeWriter::PutSymbolicLink(int parent_fd, const std::string& name, const archive::TarEntry& entry) {
  if (entry.link_target.size() > archive::kMaxPathBytes)
    return Refuse(base::Code::kTooLarge, entry.path, "is a link to a name that is too long");
  if (::symlinkat(entry.link_target.c_str(), parent_fd, name.c_str()) < 0) {
    if (errno != EEXIST) return os::ErrnoErr("make link " + archive::QuotedPath(entry.path));
    SKERRY_RETURN_IF_ERROR(os::RemoveTree(parent_fd, name));
    if (::symlinkat(entry.link_target.c_str(), parent_fd, name.c_str()) < 0)
      return os::ErrnoErr("make link " + archive::QuotedPath(entry.path));
  }
  if (::utimensat(parent_fd, name.c_str(), TimesOf(entry).data(), AT_SYMLINK_NOFOLLOW) < 0)
    return os::ErrnoErr("set the time of " + archive::QuotedPath(entry.path));
  return {};
}

base::Status TreeWriter::PutHardLink(int parent_fd, const std::string& name, const archive::TarEntry& entry) {
  SKERRY_ASSIGN_OR_RETURN(const archive::EntryPath target, archive::ParseEntryPath(entry.link_target));
  const std::string why =
      "is a hard link to " + archive::QuotedPath(entry.link_target) + ", which is no file of the archive";
  const base::UniqueFd target_parent = OpenInTree(root_fd_, target.parent, O_PATH | O_DIRECTORY, Links::kInsideTree);
  struct stat facts{};
  if (!target_parent.valid() || target.name.empty() ||
      ::fstatat(target_parent.get(), target.name.c_str(), &facts, AT_SYMLINK_NOFOLLOW) < 0 || !S_ISREG(facts.st_mode))
    return Refuse(base::Code::kPathTraversal, entry.path, why);
  const auto link = [&] { return ::linkat(target_parent.get(), target.name.c_str(), parent_fd, name.c_str(), 0) == 0; };
  if (link()) return {};
  if (errno != EEXIST) return os::ErrnoErr("make hard link " + archive::QuotedPath(entry.path));
  if (IsSameFile(target_parent.get(), target.name, parent_fd, name)) return {};
  SKERRY_RETURN_IF_ERROR(os::RemoveTree(parent_fd, name));
  if (!link()) return Refuse(base::Code::kPathTraversal, entry.path, why);
  return {};
}

}  // namespace skerry::image
