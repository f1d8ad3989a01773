#include "workspace/take_back.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <map>
#include <ranges>
#include <set>
#include <string_view>

#include "base/ids.hpp"
#include "os/errno_error.hpp"
#include "workspace/beneath.hpp"
#include "workspace/entry_digest.hpp"

namespace skerry::workspace {
namespace {

using Kind = JournalRecord::Kind;

bool IsMissing(const base::Error& error) {
  return error.code == base::Code::kNotFound;
}

bool ExpectsNothing(const JournalRecord& record) {
  return record.kind == Kind::kRemoved || record.kind == Kind::kDirectoryRemoved;
}

bool IsAsLeft(int root, const JournalRecord& record) {
  const auto place = FindPlace(root, record.path);
  if (!place) return ExpectsNothing(record) && IsMissing(place.error());
  if (ExpectsNothing(record)) return !place->entry;
  if (!place->entry || place->entry->st_ino != record.inode) return false;
  const auto digest = DigestOfEntry(*place);
  return digest && *digest == record.sha256;
}

class Undoer {
 public:
  Undoer(int directory, int root, LaterWork later) : directory_(directory), root_(root), later_(later) {}

  base::Result<std::vector<core::FileChange>> Run(const std::vector<JournalRecord>& records) {
    for (const JournalRecord& record : records | std::views::reverse) {
      if (const auto done = Undo(record); !done)
        return base::Err(done.error().code, record.path + " cannot be taken back: " + done.error().message);
    }
    std::vector<core::FileChange> changes;
    for (auto& [path, change] : changes_) changes.push_back(std::move(change));
    return changes;
  }

 private:
  base::Status Undo(const JournalRecord& record) {
    const bool comes_back =
        record.kind == Kind::kReplaced || record.kind == Kind::kRemoved || record.kind == Kind::kDirectoryRemoved;
    auto place = FindPlace(root_, record.path);
    if (!place && IsMissing(place.error()) && comes_back && IsKept(record)) {
      SKERRY_RETURN_IF_ERROR(MakeParents(record.path));
      place = FindPlace(root_, record.path);
    }
    if (!place && IsMissing(place.error())) return {};  // nothing is left to be removed
    if (!place) return std::unexpected(place.error());
    switch (record.kind) {
      case Kind::kMade:
        return Unmake(record, *place);
      case Kind::kReplaced:
        return Restore(record, *place, core::FileAction::kChanged);
      case Kind::kRemoved:
        return Restore(record, *place, core::FileAction::kCreated);
      case Kind::kDirectoryMade:
        return RemoveDirectory(*place);
      case Kind::kDirectoryRemoved:
        return MakeDirectory(record, *place);
      case Kind::kMode:
        return SetMode(record, *place);
      case Kind::kTime:
        return SetTime(record, *place);
    }
    return {};
  }

  [[nodiscard]] bool IsKept(const JournalRecord& record) const {
    struct stat facts{};
    return record.kind == Kind::kDirectoryRemoved ||
           ::fstatat(directory_, KeptEntry(record.kept).c_str(), &facts, AT_SYMLINK_NOFOLLOW) == 0;
  }

  // An entry in the way of one that comes back is moved into the journal's directory and removed with it.
  base::Status MoveAside(const Place& place) {
    const std::string name = base::RandomId("aside-");
    if (::renameat(place.parent.get(), place.name.c_str(), directory_, name.c_str()) < 0)
      return os::ErrnoErr("move away what is there now");
    return {};
  }

  base::Status MakeParents(const std::string& path) {
    for (std::size_t slash = path.find('/'); slash != std::string::npos; slash = path.find('/', slash + 1)) {
      SKERRY_ASSIGN_OR_RETURN(const Place place, FindPlace(root_, path.substr(0, slash)));
      if (place.HoldsDirectory()) continue;
      if (place.entry) SKERRY_RETURN_IF_ERROR(MoveAside(place));
      constexpr mode_t kUsual = S_IRWXU | S_IRGRP | S_IXGRP | S_IROTH | S_IXOTH;
      if (::mkdirat(place.parent.get(), place.name.c_str(), kUsual) < 0) return os::ErrnoErr("make the directory");
      SKERRY_RETURN_IF_ERROR(GiveToOwnerOfParent(place));
    }
    return {};
  }

  base::Status Unmake(const JournalRecord& record, const Place& place) {
    if (!place.entry || place.HoldsDirectory()) return {};
    if (place.entry->st_ino != record.inode && later_ == LaterWork::kStays) return {};
    if (::unlinkat(place.parent.get(), place.name.c_str(), 0) < 0 && errno != ENOENT) return os::ErrnoErr("remove it");
    changes_[record.path] = {.path = record.path, .action = core::FileAction::kRemoved};
    return {};
  }

  base::Status Restore(const JournalRecord& record, const Place& place, core::FileAction action) {
    const std::string kept = KeptEntry(record.kept);
    struct stat old{};
    if (::fstatat(directory_, kept.c_str(), &old, AT_SYMLINK_NOFOLLOW) < 0)
      return errno == ENOENT ? base::Status{} : os::ErrnoErr("look at what was kept");
    const bool untouched = place.entry && place.entry->st_ino == old.st_ino && place.entry->st_dev == old.st_dev;
    if (untouched) {  // killed before the new file came; rename would leave both names
      if (::unlinkat(directory_, kept.c_str(), 0) < 0) return os::ErrnoErr("forget what was kept");
      return {};
    }
    if (place.HoldsDirectory()) SKERRY_RETURN_IF_ERROR(MoveAside(place));
    if (::renameat(directory_, kept.c_str(), place.parent.get(), place.name.c_str()) < 0)
      return os::ErrnoErr("put it back");
    return Note(record.path, action);
  }

  base::Status Note(const std::string& path, core::FileAction action) {
    SKERRY_ASSIGN_OR_RETURN(const Place place, FindPlace(root_, path));
    SKERRY_ASSIGN_OR_RETURN(changes_[path], DescribeEntry(path, place, action));
    return {};
  }

  static base::Status RemoveDirectory(const Place& place) {
    if (!place.HoldsDirectory()) return {};
    const bool gone = ::unlinkat(place.parent.get(), place.name.c_str(), AT_REMOVEDIR) == 0;
    if (!gone && errno != ENOENT && errno != ENOTEMPTY && errno != EEXIST) return os::ErrnoErr("remove the directory");
    return {};
  }

  base::Status MakeDirectory(const JournalRecord& record, const Place& place) {
    const bool occupied = place.entry && !place.HoldsDirectory();
    if (occupied) SKERRY_RETURN_IF_ERROR(MoveAside(place));
    if (!place.HoldsDirectory() && ::mkdirat(place.parent.get(), place.name.c_str(), S_IRWXU) < 0)
      return os::ErrnoErr("make the directory");
    SKERRY_RETURN_IF_ERROR(SetMode(record, place));
    return GiveToOwnerOfParent(place);
  }

  static base::Status SetMode(const JournalRecord& record, const Place& place) {
    const auto fd = OpenBeneath(place.parent.get(), place.name, O_RDONLY | O_DIRECTORY);
    if (!fd) return IsMissing(fd.error()) ? base::Status{} : std::unexpected(fd.error());
    if (::fchmod(fd->get(), static_cast<mode_t>(record.mode)) < 0) return os::ErrnoErr("set its mode");
    return {};
  }

  static base::Status GiveToOwnerOfParent(const Place& place) {
    struct stat parent{};
    if (::geteuid() != 0) return {};
    if (::fstat(place.parent.get(), &parent) < 0 ||
        ::fchownat(place.parent.get(), place.name.c_str(), parent.st_uid, parent.st_gid, AT_SYMLINK_NOFOLLOW) < 0)
      return os::ErrnoErr("give the directory to its owner");
    return {};
  }

  static base::Status SetTime(const JournalRecord& record, const Place& place) {
    if (!place.entry || place.entry->st_ino != record.inode) return {};
    const std::array times = {
        timespec{.tv_sec = 0, .tv_nsec = UTIME_OMIT},
        timespec{.tv_sec = static_cast<time_t>(record.seconds), .tv_nsec = static_cast<long>(record.nanoseconds)}};
    if (::utimensat(place.parent.get(), place.name.c_str(), times.data(), AT_SYMLINK_NOFOLLOW) < 0)
      return os::ErrnoErr("set its time");
    return {};
  }

  int directory_;
  int root_;
  LaterWork later_;
  std::map<std::string, core::FileChange> changes_;
};

}  // namespace

base::Result<std::vector<std::string>> ChangedSince(const Journal& journal, int root) {
  std::map<std::string_view, const JournalRecord*> last;
  std::set<std::string_view> removed;  // directories
  for (const JournalRecord& record : journal.records) {
    if (record.kind == Kind::kMode || record.kind == Kind::kTime) continue;
    if (record.kind == Kind::kDirectoryRemoved) removed.insert(record.path);
    last[record.path] = &record;
    if (record.kind == Kind::kDirectoryMade) last.erase(record.path);  // made in the place of a file that was removed
  }
  const auto went_with_its_directory = [&](std::string_view path) {
    for (path = ParentOf(path); !path.empty(); path = ParentOf(path))
      if (removed.contains(path)) return true;
    return false;
  };
  std::vector<std::string> changed;
  for (const auto& [path, record] : last) {
    const bool parent_is_gone = ExpectsNothing(*record) && !FindPlace(root, record->path);
    if (!IsAsLeft(root, *record) || (parent_is_gone && !went_with_its_directory(path))) changed.emplace_back(path);
  }
  return changed;
}

base::Result<std::vector<core::FileChange>> TakeBack(const Journal& journal, int directory, int root, LaterWork later) {
  return Undoer(directory, root, later).Run(journal.records);
}

}  // namespace skerry::workspace
