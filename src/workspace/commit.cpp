#include "workspace/commit.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <set>
#include <span>
#include <utility>

#include "base/unique_fd.hpp"
#include "os/errno_error.hpp"
#include "os/files.hpp"
#include "workspace/beneath.hpp"
#include "workspace/file_copy.hpp"
#include "workspace/layers.hpp"
#include "workspace/link_check.hpp"
#include "workspace/prepared_entry.hpp"
#include "workspace/removal.hpp"

namespace skerry::workspace {
namespace {

constexpr const char* kKept = "was kept, because not everything new could be written";

bool IsSameLink(const Place& place, const Change& change) {
  if (!place.HoldsLink()) return false;
  const auto target = os::ReadLink(place.parent.get(), place.name);
  return target && *target == change.target;
}

// How many files are below the first of `changes`, which follow it.
std::size_t FilesBelowFirst(std::span<const Change> changes) {
  std::size_t files = 0;
  for (const Change& change : changes.subspan(1)) {
    if (!IsBelow(change.path, changes.front().path)) break;
    if (change.kind != ChangeKind::kDirectory) ++files;
  }
  return files;
}

std::string WithFiles(std::string reason, std::size_t files) {
  if (files == 0) return reason;
  return std::move(reason) + " (with " + std::to_string(files) + (files == 1 ? " file)" : " files)");
}

class Committer {
 public:
  Committer(const Layers& layers, const OverlayChanges& found)
      : layers_(layers), found_(found), all_written_(found.complete) {}

  CommitReport Run() {
    if (!found_.complete) Withhold(".", "holds more changes than can be listed; the rest was not written");
    const std::span<const Change> all(found_.changes);
    for (std::size_t i = 0; i < all.size(); ++i) TakeFirst(all.subspan(i));
    WriteLinks();
    for (const Change* deletion : deletions_) Delete(deletion->path);
    for (const Change* directory : opaque_) DeleteHidden(directory->path);
    return Finish();
  }

 private:
  void TakeFirst(std::span<const Change> rest) {
    const Change& change = rest.front();
    if (!covered_.empty() && IsBelow(change.path, covered_)) return;
    switch (change.kind) {
      case ChangeKind::kOther:
        Withhold(change.path, change.obstacle);
        // A fifo holds nothing that could be lost.
        if (S_ISREG(change.mode) || S_ISDIR(change.mode)) all_written_ = false;
        return;
      case ChangeKind::kLink:
        return links_.push_back(&change);
      case ChangeKind::kDeletion:
        return deletions_.push_back(&change);
      case ChangeKind::kFile:
        return NoteFailure(change.path, WriteFile(change));
      case ChangeKind::kDirectory:
        return TakeDirectory(change, FilesBelowFirst(rest));
    }
  }

  // --- directories

  void TakeDirectory(const Change& change, std::size_t files) {
    const auto place = FindPlace(layers_.lower, change.path);
    if (!place) return Cover(change, files, place.error().message);
    if (std::string refusal = layers_.Refusal(change); !refusal.empty()) {
      covered_ = change.path;
      const bool changes = files > 0 || change.opaque || !place->HoldsDirectory() || !HasModeOf(*place, change);
      if (changes) Withhold(change.path, WithFiles(std::move(refusal), files));
      return;
    }
    if (const auto made = MakeDirectory(change, *place); !made) Cover(change, files, made.error().message);
  }

  base::Status MakeDirectory(const Change& change, const Place& place) {
    if (place.HoldsDirectory()) {
      if (change.opaque) opaque_.push_back(&change);
      return HasModeOf(place, change) ? base::Status{} : ChangeMode(change, place);
    }
    // What the program itself put in the place of something is opaque: this came meanwhile.
    if (place.entry && !change.opaque) return base::Err(base::Code::kConflict, kChangedMeanwhile);
    SKERRY_ASSIGN_OR_RETURN(PreparedEntry entry, PreparedEntry::Directory(place, ModeFor(place, change)));
    return Settle(change, place, entry);
  }

  base::Status ChangeMode(const Change& change, const Place& place) {
    SKERRY_ASSIGN_OR_RETURN(const base::UniqueFd fd,
                            OpenBeneath(place.parent.get(), place.name, O_RDONLY | O_DIRECTORY));
    const mode_t special = place.entry->st_mode & (ALLPERMS & ~ACCESSPERMS);  // the person's own
    if (::fchmod(fd.get(), special | ModeFor(place, change) | S_IRWXU) < 0)
      return os::ErrnoErr("cannot change its mode");
    return {};
  }

  void Cover(const Change& directory, std::size_t files, const std::string& reason) {
    covered_ = directory.path;
    NoteFailure(directory.path, base::Err(base::Code::kInternal, WithFiles(reason, files)));
  }

  // --- files

  base::Status WriteFile(const Change& change) {
    SKERRY_ASSIGN_OR_RETURN(const Place place, FindPlace(layers_.lower, change.path));
    if (change.size > layers_.limits.max_file_bytes) {
      if (Refused(change)) return {};
      return base::Err(base::Code::kTooLarge,
                       "larger than " + std::to_string(layers_.limits.max_file_bytes) + " bytes");
    }
    SKERRY_ASSIGN_OR_RETURN(const base::UniqueFd source, OpenFileBeneath(layers_.upper, change.path, Locked::kUnlock));
    if (IsSameFile(place, change, source.get())) return CarryTime(place, change, source.get());
    if (Refused(change)) return {};
    if (layers_.ChangedMeanwhile(place)) return base::Err(base::Code::kConflict, kChangedMeanwhile);
    SKERRY_ASSIGN_OR_RETURN(PreparedEntry entry,
                            PreparedEntry::File(place, {.fd = source.get(),
                                                        .size = change.size,
                                                        .mode = ModeFor(place, change),
                                                        .limit = layers_.limits.max_total_bytes - report_.bytes}));
    SKERRY_RETURN_IF_ERROR(Settle(change, place, entry));
    report_.bytes += entry.bytes();
    return {};
  }

  // The overlay copies up what is opened for writing, written to or not.
  [[nodiscard]] bool IsSameFile(const Place& place, const Change& change, int source) const {
    if (!place.HoldsFile() || static_cast<std::uint64_t>(place.entry->st_size) != change.size) return false;
    if (!HasModeOf(place, change)) return false;
    const auto old = OpenFileBeneath(layers_.lower, change.path, Locked::kLeave);
    return old && SameContent(source, old->get(), change.size);
  }

  // What was only touched: builds live by the times of files. No content is lost without it, so it holds up nothing.
  base::Status CarryTime(const Place& place, const Change& change, int source) {
    struct stat facts{};
    if (::fstat(source, &facts) < 0) return os::ErrnoErr("cannot be read");
    const timespec& old = place.entry->st_mtim;
    if (facts.st_mtim.tv_sec == old.tv_sec && facts.st_mtim.tv_nsec == old.tv_nsec) return {};
    if (layers_.ChangedMeanwhile(place) || Refused(change)) return {};
    const std::array times = {timespec{.tv_sec = 0, .tv_nsec = UTIME_OMIT}, facts.st_mtim};
    if (::utimensat(place.parent.get(), place.name.c_str(), times.data(), AT_SYMLINK_NOFOLLOW) < 0)
      Withhold(change.path, "its time cannot be set: " + os::ErrnoText(errno));
    return {};
  }

  // --- links

  void WriteLinks() {
    std::vector<const Change*> made;
    for (const Change* link : links_) {
      const auto written = WriteLink(*link);
      if (written && *written) made.push_back(link);
      if (!written) NoteFailure(link->path, std::unexpected(written.error()));
    }
    // Where one leads may depend on others that came after it.
    std::set<std::string> taken_back;
    for (const Change* link : made) {
      std::string obstacle = FollowedLinkObstacle(layers_.lower, link->path);
      if (!obstacle.empty() && TakeBack(*link, std::move(obstacle))) taken_back.insert(link->path);
    }
    const auto is_gone = [&](const std::string& path) { return taken_back.contains(path); };
    std::erase_if(report_.created, is_gone);
    std::ranges::copy_if(report_.changed, std::back_inserter(report_.deleted), is_gone);
    std::erase_if(report_.changed, is_gone);
  }

  // Whether it was made.
  base::Result<bool> WriteLink(const Change& change) {
    SKERRY_ASSIGN_OR_RETURN(const Place place, FindPlace(layers_.lower, change.path));
    if (IsSameLink(place, change) || Refused(change)) return false;
    if (std::string obstacle = LinkObstacle(change.path, change.target); !obstacle.empty()) {
      Withhold(change.path, std::move(obstacle));
      return false;
    }
    if (layers_.ChangedMeanwhile(place)) return base::Err(base::Code::kConflict, kChangedMeanwhile);
    SKERRY_ASSIGN_OR_RETURN(PreparedEntry entry, PreparedEntry::Link(place, change.target));
    const std::string prepared_path = JoinPath(ParentOf(change.path), entry.name());
    if (std::string obstacle = FollowedLinkObstacle(layers_.lower, prepared_path); !obstacle.empty()) {
      Withhold(change.path, std::move(obstacle));
      return false;
    }
    SKERRY_RETURN_IF_ERROR(Settle(change, place, entry));
    return true;
  }

  // Whether it is gone.
  bool TakeBack(const Change& change, std::string reason) {
    const auto place = FindPlace(layers_.lower, change.path);
    if (!place || !IsSameLink(*place, change)) return false;
    const bool removed = ::unlinkat(place->parent.get(), place->name.c_str(), 0) == 0;
    Withhold(change.path, removed ? std::move(reason) : reason + "; it could not be removed again");
    return removed;
  }

  // --- deletions

  void Delete(const std::string& path) {
    if (all_written_) return Add(ExecuteRemoval(layers_, PlanRemoval(layers_, path)));
    if (const auto place = FindPlace(layers_.lower, path); place && place->entry) Withhold(path, kKept);
  }

  // What the lower layer has in an opaque directory and the upper has not.
  void DeleteHidden(const std::string& directory) {
    auto fd = OpenDirectoryBeneath(layers_.lower, directory, Locked::kLeave);
    if (!fd) return Withhold(directory, fd.error().message);
    const auto names = NamesIn(std::move(*fd), layers_.limits.walk.max_entries);
    if (!names) return Withhold(directory, names.error().message);
    for (const std::string& name : *names)
      if (const std::string path = JoinPath(directory, name); !IsInUpper(path)) Delete(path);
  }

  [[nodiscard]] bool IsInUpper(const std::string& path) const {
    return std::ranges::binary_search(found_.changes, path, PathBefore, &Change::path);
  }

  // --- for all of them

  // Moves what is ready into its place. What is in the way goes first, all of it or nothing.
  base::Status Settle(const Change& change, const Place& place, PreparedEntry& entry) {
    const bool directory = change.kind == ChangeKind::kDirectory;
    if (place.entry && (directory || place.HoldsDirectory())) {
      const RemovalPlan plan = PlanRemoval(layers_, change.path);
      if (!plan.staying.empty()) {
        const Withheld& first = plan.staying.front();
        return base::Err(base::Code::kRejected, "would replace " + first.path + ", which has to stay: " + first.reason);
      }
      Removed removed = ExecuteRemoval(layers_, plan);
      const bool in_the_way = !removed.withheld.empty();
      Add(std::move(removed));
      if (in_the_way) return base::Err(base::Code::kConflict, "what it replaces could not be deleted");
    }
    SKERRY_RETURN_IF_ERROR(entry.MoveTo(place));
    const bool replaced = place.entry && !place.HoldsDirectory();
    if (!directory) (replaced ? report_.changed : report_.created).push_back(change.path);
    return {};
  }

  bool Refused(const Change& change) {
    std::string refusal = layers_.Refusal(change);
    if (refusal.empty()) return false;
    Withhold(change.path, std::move(refusal));
    return true;
  }

  [[nodiscard]] mode_t ModeFor(const Place& place, const Change& change) const {
    const bool same_kind = place.entry && (place.entry->st_mode & S_IFMT) == (change.mode & S_IFMT);
    const mode_t before = same_kind ? place.entry->st_mode : 0;
    return change.mode & (layers_.limits.mode_mask | before) & ACCESSPERMS;
  }
  [[nodiscard]] bool HasModeOf(const Place& place, const Change& change) const {
    return (place.entry->st_mode & ACCESSPERMS) == ModeFor(place, change);
  }

  void Withhold(std::string path, std::string reason) {
    report_.withheld.push_back({std::move(path), std::move(reason)});
  }
  void NoteFailure(const std::string& path, const base::Status& status) {
    if (status) return;
    all_written_ = false;
    Withhold(path, status.error().message);
  }
  void Add(Removed removed) {
    std::ranges::move(removed.deleted, std::back_inserter(report_.deleted));
    std::ranges::move(removed.withheld, std::back_inserter(report_.withheld));
  }

  CommitReport Finish() {
    std::ranges::sort(report_.created);
    std::ranges::sort(report_.changed);
    std::ranges::sort(report_.deleted);
    std::ranges::sort(report_.withheld, {}, &Withheld::path);
    return std::move(report_);
  }

  const Layers& layers_;
  const OverlayChanges& found_;
  CommitReport report_;
  bool all_written_;     // else what would be deleted may be the only copy of something
  std::string covered_;  // the directory last refused
  std::vector<const Change*> links_;
  std::vector<const Change*> deletions_;
  std::vector<const Change*> opaque_;
};

}  // namespace

base::Result<CommitReport> Commit(int upper, int lower, CommitRules& rules, const CommitLimits& limits) {
  const base::UniqueFd directory(::openat(lower, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!directory.valid()) return os::ErrnoErr("open the directory");
  SKERRY_ASSIGN_OR_RETURN(const OverlayChanges found, ReadOverlayChanges(upper, limits.walk));
  const Layers layers{.upper = upper, .lower = directory.get(), .rules = rules, .limits = limits};
  return Committer(layers, found).Run();
}

}  // namespace skerry::workspace
