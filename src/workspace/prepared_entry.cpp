#include "workspace/prepared_entry.hpp"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <utility>

#include "base/unique_fd.hpp"
#include "os/errno_error.hpp"

namespace skerry::workspace {
namespace {

constexpr const char* kNotWritten = "cannot be written";
constexpr const char* kChanged = "was changed while it was made";

struct Owner {
  uid_t user;
  gid_t group;
};

base::Result<Owner> OwnerFor(const Place& place) {
  if (place.entry && !S_ISDIR(place.entry->st_mode)) return Owner{place.entry->st_uid, place.entry->st_gid};
  struct stat parent{};
  if (::fstat(place.parent.get(), &parent) < 0) return os::ErrnoErr(kNotWritten);
  return Owner{parent.st_uid, parent.st_gid};
}

// Files that root makes in a person's directory are given to the person; only root can do that. By the descriptor:
// under the name the person could have put a link to a file that must not become theirs.
base::Status GiveToOwner(const Place& place, int fd) {
  if (::geteuid() != 0) return {};
  SKERRY_ASSIGN_OR_RETURN(const Owner owner, OwnerFor(place));
  if (::fchownat(fd, "", owner.user, owner.group, AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW) < 0)
    return os::ErrnoErr("cannot be given to its owner");
  return {};
}

base::Status KeepTime(int source, int target) {
  struct stat facts{};
  if (::fstat(source, &facts) < 0) return os::ErrnoErr("cannot be read");
  const std::array<timespec, 2> times = {timespec{.tv_sec = 0, .tv_nsec = UTIME_OMIT}, facts.st_mtim};
  if (::futimens(target, times.data()) < 0) return os::ErrnoErr(kNotWritten);
  return {};
}

}  // namespace

PreparedEntry::PreparedEntry(PreparedEntry&& other) noexcept
    : parent_(other.parent_),
      name_(std::exchange(other.name_, {})),
      copied_(std::move(other.copied_)),
      facts_(other.facts_) {}

PreparedEntry::~PreparedEntry() {
  if (name_.empty()) return;
  if (::unlinkat(parent_, name_.c_str(), 0) < 0 && errno == EISDIR)
    (void)::unlinkat(parent_, name_.c_str(), AT_REMOVEDIR);
}

base::Status PreparedEntry::TakeFacts(int fd) {
  if (::fstat(fd, &facts_) < 0) return os::ErrnoErr(kNotWritten);
  return {};
}

base::Result<PreparedEntry> PreparedEntry::File(Site site, const FileSource& source) {
  PreparedEntry entry(site);
  const base::UniqueFd fd(::openat(entry.parent_, entry.name_.c_str(),
                                   O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, S_IRUSR | S_IWUSR));
  if (!fd.valid()) return os::ErrnoErr(kNotWritten);
  SKERRY_ASSIGN_OR_RETURN(entry.copied_, CopyContent(source.fd, fd.get(), source.size, source.limit, source.hashing));
  // Owner first: until the owner is right no other user may read the file.
  SKERRY_RETURN_IF_ERROR(GiveToOwner(site.place, fd.get()));
  if (::fchmod(fd.get(), source.mode & ACCESSPERMS) < 0) return os::ErrnoErr(kNotWritten);
  SKERRY_RETURN_IF_ERROR(KeepTime(source.fd, fd.get()));
  SKERRY_RETURN_IF_ERROR(entry.TakeFacts(fd.get()));
  return entry;
}

base::Result<PreparedEntry> PreparedEntry::Directory(Site site, mode_t mode) {
  PreparedEntry entry(site);
  if (::mkdirat(entry.parent_, entry.name_.c_str(), S_IRWXU) < 0) return os::ErrnoErr(kNotWritten);
  SKERRY_ASSIGN_OR_RETURN(const base::UniqueFd fd, OpenBeneath(entry.parent_, entry.name_, O_RDONLY | O_DIRECTORY));
  SKERRY_RETURN_IF_ERROR(GiveToOwner(site.place, fd.get()));
  SKERRY_RETURN_IF_ERROR(entry.TakeFacts(fd.get()));
  // The set-group bit is kept: a directory inherits it from the host's directory. One that was prepared elsewhere
  // inherits none.
  if (::fchmod(fd.get(), (entry.facts_.st_mode & S_ISGID) | (mode & ACCESSPERMS) | S_IRWXU) < 0)
    return os::ErrnoErr(kNotWritten);
  return entry;
}

base::Result<PreparedEntry> PreparedEntry::Link(Site site, const std::string& target) {
  PreparedEntry entry(site);
  if (::symlinkat(target.c_str(), entry.parent_, entry.name_.c_str()) < 0) return os::ErrnoErr(kNotWritten);
  SKERRY_ASSIGN_OR_RETURN(const base::UniqueFd fd, OpenBeneath(entry.parent_, entry.name_, O_PATH));
  SKERRY_RETURN_IF_ERROR(entry.TakeFacts(fd.get()));
  if (!S_ISLNK(entry.facts_.st_mode)) return base::Err(base::Code::kConflict, kChanged);
  SKERRY_RETURN_IF_ERROR(GiveToOwner(site.place, fd.get()));
  return entry;
}

base::Status PreparedEntry::MoveTo(const Place& place) {
  if (::renameat(parent_, name_.c_str(), place.parent.get(), place.name.c_str()) < 0) return os::ErrnoErr(kNotWritten);
  name_.clear();
  return {};
}

}  // namespace skerry::workspace
