#include "workspace/staged_entry.hpp"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "base/ids.hpp"
#include "os/remove_tree.hpp"
#include "workspace/mount_border.hpp"
#include "workspace/path_errors.hpp"
#include "workspace/tree_walk.hpp"

namespace skerry::workspace {
namespace {

// Also where the file system has no RENAME_NOREPLACE: there a file or link gets its second name by linkat, which
// replaces nothing.
int MoveWithoutReplacing(int directory, const char* name, const Place& place) {
  if (::renameat2(directory, name, place.parent.get(), place.name.c_str(), RENAME_NOREPLACE) == 0) return 0;
  if (errno != EINVAL && errno != ENOSYS) return -1;
  if (::linkat(directory, name, place.parent.get(), place.name.c_str(), 0) < 0) {
    if (errno != EPERM) return -1;  // EPERM: a directory
    Facts facts{};
    if (FactsAt(place.parent.get(), place.name.c_str(), facts)) {
      errno = EEXIST;
      return -1;
    }
    return ::renameat(directory, name, place.parent.get(), place.name.c_str());
  }
  return ::unlinkat(directory, name, 0);
}

}  // namespace

StagedEntry::StagedEntry(StagedEntry&& other) noexcept
    : directory_(std::move(other.directory_)),
      name_(std::move(other.name_)),
      has_name_(std::exchange(other.has_name_, false)),
      fd_(std::move(other.fd_)) {}

StagedEntry::~StagedEntry() {
  if (has_name_) (void)os::RemoveTree(directory_.get(), name_);
}

base::Result<StagedEntry> StagedEntry::Begin(int directory) {
  base::UniqueFd own(::fcntl(directory, F_DUPFD_CLOEXEC, 0));
  if (!own.valid()) return PathErr();
  return StagedEntry(std::move(own), base::RandomId(kPrivatePrefix));
}

base::Result<StagedEntry> StagedEntry::File(int directory) {
  SKERRY_ASSIGN_OR_RETURN(StagedEntry entry, Begin(directory));
  constexpr mode_t kOwnerOnly = S_IRUSR | S_IWUSR;
  const int unnamed = ::openat(directory, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, kOwnerOnly);
  if (unnamed < 0 && errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL) return PathErr();
  entry.fd_.Reset(unnamed);
  if (entry.fd_.valid()) return entry;
  entry.fd_.Reset(
      ::openat(directory, entry.name_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, kOwnerOnly));
  if (!entry.fd_.valid()) return PathErr();
  entry.has_name_ = true;
  return entry;
}

base::Result<StagedEntry> StagedEntry::Directory(int directory) {
  SKERRY_ASSIGN_OR_RETURN(StagedEntry entry, Begin(directory));
  if (::mkdirat(directory, entry.name_.c_str(), S_IRWXU) < 0) return PathErr();
  entry.has_name_ = true;
  entry.fd_.Reset(::openat(directory, entry.name_.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!entry.fd_.valid()) return PathErr();
  return entry;
}

base::Result<StagedEntry> StagedEntry::Link(int directory, const std::string& target) {
  SKERRY_ASSIGN_OR_RETURN(StagedEntry entry, Begin(directory));
  if (::symlinkat(target.c_str(), directory, entry.name_.c_str()) < 0) return PathErr();
  entry.has_name_ = true;
  entry.fd_.Reset(::openat(directory, entry.name_.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
  struct stat made{};
  if (!entry.fd_.valid() || ::fstat(entry.fd_.get(), &made) < 0) return PathErr();
  if (!S_ISLNK(made.st_mode)) return base::Err(base::Code::kConflict, "was changed while it was made");
  return entry;
}

base::Status StagedEntry::GiveToOwnerOf(const Place& place) {
  SKERRY_ASSIGN_OR_RETURN(const Owner owner, OwnerFor(place));
  return GiveTo(owner, fd_.get());
}

base::Status StagedEntry::GetName(const Place& place) {
  if (has_name_) return {};
  const auto link = [&] {
    return ::linkat(AT_FDCWD, OwnName(fd_.get()).c_str(), directory_.get(), name_.c_str(), AT_SYMLINK_FOLLOW) == 0;
  };
  bool linked = link();
  if (!linked && errno == ENOENT) {
    // The directory of the file is gone: it was empty, since a file without a name does not keep it.
    directory_.Reset(::fcntl(place.parent.get(), F_DUPFD_CLOEXEC, 0));
    linked = link();
  }
  if (!linked) return PathErr();
  has_name_ = true;
  return {};
}

base::Status StagedEntry::MoveTo(const Place& place, Existing existing) {
  SKERRY_RETURN_IF_ERROR(GetName(place));
  if (MoveEntry(directory_.get(), name_, place, existing) < 0) return PathErr();
  has_name_ = false;
  return {};
}

int MoveEntry(int directory, const std::string& name, const Place& place, Existing existing) {
  if (existing == Existing::kKeep) return MoveWithoutReplacing(directory, name.c_str(), place);
  return ::renameat(directory, name.c_str(), place.parent.get(), place.name.c_str());
}

base::Result<Owner> OwnerFor(const Place& place) {
  if (place.entry && !S_ISDIR(place.entry->st_mode)) return Owner{place.entry->st_uid, place.entry->st_gid};
  struct stat parent{};
  if (::fstat(place.parent.get(), &parent) < 0) return PathErr();
  return Owner{parent.st_uid, parent.st_gid};
}

base::Status GiveTo(const Owner& owner, int fd) {
  if (::geteuid() != 0) return {};
  if (::fchownat(fd, "", owner.user, owner.group, AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW) < 0) return PathErr();
  return {};
}

base::Status SyncDirectory(int directory) {
  const base::UniqueFd fd(::openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (fd.valid() && ::fsync(fd.get()) < 0 && errno != EINVAL) return PathErr();
  return {};
}

}  // namespace skerry::workspace
