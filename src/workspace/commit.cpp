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

#include "base/ids.hpp"
#include "base/sha256.hpp"
#include "base/unique_fd.hpp"
#include "os/errno_error.hpp"
#include "workspace/beneath.hpp"
#include "workspace/layer_memory.hpp"
#include "workspace/layers.hpp"
#include "workspace/link_check.hpp"
#include "workspace/prepared_entry.hpp"
#include "workspace/removal.hpp"
#include "workspace/usage.hpp"

namespace skerry::workspace {
namespace {

constexpr const char* kKept = "was kept, because not everything new could be written";

std::uint64_t BytesOf(const struct stat& facts) {
  constexpr std::uint64_t kBlockBytes = 512;
  return static_cast<std::uint64_t>(facts.st_blocks) * kBlockBytes;
}

// How many files lie below the first of `changes`; they follow it.
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
  Committer(const Layers& layers, const OverlayChanges& found, RefusedContents& refused)
      : layers_(layers), found_(found), refused_(refused), all_written_(found.complete) {}

  CommitReport Run() {
    if (!found_.complete) Withhold(".", "holds more changes than can be listed; the rest was not written");
    if (layers_.limits.counting == Counting::kGrowth) CountDeletions();
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
        // A fifo has no content that could be lost.
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

  // A moved file is written before the old one is deleted; the bytes of that deletion count as free. But only when
  // everything will fit: a file that is not written keeps all that would be deleted.
  void CountDeletions() {
    std::uint64_t going = 0;
    std::uint64_t replaced = 0;
    std::uint64_t coming = 0;
    for (const Change& change : found_.changes) {
      if (change.kind == ChangeKind::kDeletion) going += BytesAt(change.path);
      if (change.kind != ChangeKind::kFile) continue;
      replaced += BytesAt(change.path);
      coming += change.size;
    }
    if (coming <= layers_.limits.max_total_bytes + going + replaced) freed_ = going;
  }

  [[nodiscard]] std::uint64_t BytesAt(const std::string& path) const {
    const auto place = FindPlace(layers_.lower, path);
    if (place && place->HoldsFile()) return BytesOf(*place->entry);
    if (!place || !place->HoldsDirectory()) return 0;
    const auto directory = OpenDirectoryBeneath(layers_.lower, path, Locked::kLeave);
    const auto usage = directory ? CountUsage(directory->get()) : base::Result<Usage>(Usage{});
    return usage ? usage->bytes : 0;
  }

  // --- directories

  void TakeDirectory(const Change& change, std::size_t files) {
    const auto place = FindPlace(layers_.lower, change.path);
    if (!place) return Cover(change, files, place.error().message);
    if (std::string refusal = layers_.Refusal(change); !refusal.empty()) {
      covered_ = change.path;
      const bool changes = files > 0 || change.opaque || !place->HoldsDirectory() || !layers_.HasModeOf(*place, change);
      if (changes) Withhold(change.path, WithFiles(std::move(refusal), files));
      return;
    }
    if (const auto made = MakeDirectory(change, *place); !made) Cover(change, files, made.error().message);
  }

  base::Status MakeDirectory(const Change& change, const Place& place) {
    if (place.HoldsDirectory()) {
      if (change.opaque) opaque_.push_back(&change);
      const bool keep = layers_.limits.directory_modes == DirectoryModes::kKeep || layers_.HasModeOf(place, change);
      return keep ? base::Status{} : ChangeMode(change, place);
    }
    // A directory that the program itself put in the place of a file is opaque: otherwise this entry came meanwhile.
    if (place.entry && !change.opaque) return base::Err(base::Code::kConflict, kChangedMeanwhile);
    SKERRY_ASSIGN_OR_RETURN(PreparedEntry::Site site, SiteFor(change, place));
    SKERRY_ASSIGN_OR_RETURN(PreparedEntry entry,
                            PreparedEntry::Directory(std::move(site), layers_.ModeFor(place, change)));
    return Settle(change, place, entry, {});
  }

  base::Status ChangeMode(const Change& change, const Place& place) {
    SKERRY_ASSIGN_OR_RETURN(const base::UniqueFd fd,
                            OpenBeneath(place.parent.get(), place.name, O_RDONLY | O_DIRECTORY));
    SKERRY_RETURN_IF_ERROR(layers_.journal.BeforeMode(change.path, *place.entry));
    const mode_t special = place.entry->st_mode & (ALLPERMS & ~ACCESSPERMS);  // the person's own bits
    if (::fchmod(fd.get(), special | layers_.ModeFor(place, change) | S_IRWXU) < 0)
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
    if (layers_.IsSameFile(place, change, source.get())) return CarryTime(place, change, source.get());
    if (Refused(change)) return {};
    if (layers_.ChangedMeanwhile(place)) return base::Err(base::Code::kConflict, kChangedMeanwhile);
    SKERRY_ASSIGN_OR_RETURN(PreparedEntry::Site site, SiteFor(change, place));
    const std::uint64_t room = RoomFor(place);
    if (layers_.limits.counting == Counting::kGrowth && change.size > room)
      return base::Err(base::Code::kTooLarge, "the workspace would be larger than it may be");
    SKERRY_ASSIGN_OR_RETURN(PreparedEntry entry,
                            PreparedEntry::File(std::move(site), {.fd = source.get(),
                                                                  .size = change.size,
                                                                  .mode = layers_.ModeFor(place, change),
                                                                  .limit = room,
                                                                  .hashing = layers_.limits.hashing}));
    SKERRY_RETURN_IF_ERROR(Settle(change, place, entry, entry.sha256()));
    if (place.HoldsFile()) freed_ += BytesOf(*place.entry);
    report_.bytes += entry.bytes();
    return {};
  }

  // Bytes that may still be written.
  [[nodiscard]] std::uint64_t RoomFor(const Place& place) const {
    const std::uint64_t replaced = place.HoldsFile() ? BytesOf(*place.entry) : 0;
    const std::uint64_t freed = layers_.limits.counting == Counting::kGrowth ? freed_ + replaced : 0;
    const std::uint64_t room = layers_.limits.max_total_bytes + freed;
    return room > report_.bytes ? room - report_.bytes : 0;
  }

  // Carries over the time of a file that was only touched: builds depend on it. Without it no content is lost, so a
  // failure holds up nothing.
  base::Status CarryTime(const Place& place, const Change& change, int source) {
    struct stat facts{};
    if (::fstat(source, &facts) < 0) return os::ErrnoErr("cannot be read");
    const timespec& old = place.entry->st_mtim;
    if (facts.st_mtim.tv_sec == old.tv_sec && facts.st_mtim.tv_nsec == old.tv_nsec) return {};
    if (layers_.ChangedMeanwhile(place) || Refused(change)) return {};
    SKERRY_RETURN_IF_ERROR(layers_.journal.BeforeTime(change.path, *place.entry));
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
    // Where a link leads may depend on links that were made after it.
    std::set<std::string> taken_back;
    for (const Change* link : made) {
      std::string obstacle = FollowedLinkObstacle(layers_.lower, link->path, layers_.limits.links);
      if (!obstacle.empty() && TakeBack(*link, std::move(obstacle))) taken_back.insert(link->path);
    }
    const auto is_gone = [&](const std::string& path) { return taken_back.contains(path); };
    std::erase_if(report_.created, is_gone);
    std::erase_if(report_.to_review, [&](const Withheld& told) { return is_gone(told.path); });
    std::ranges::copy_if(report_.changed, std::back_inserter(report_.deleted), is_gone);
    std::erase_if(report_.changed, is_gone);
    std::erase_if(report_.changes, [&](const core::FileChange& change) { return is_gone(change.path); });
  }

  // Whether the link was made.
  base::Result<bool> WriteLink(const Change& change) {
    SKERRY_ASSIGN_OR_RETURN(const Place place, FindPlace(layers_.lower, change.path));
    if (layers_.IsSameLink(place, change) || Refused(change)) return false;
    if (std::string obstacle = LinkObstacle(change.path, change.target, layers_.limits.links); !obstacle.empty()) {
      WithholdLink(change, std::move(obstacle));
      return false;
    }
    if (layers_.ChangedMeanwhile(place)) return base::Err(base::Code::kConflict, kChangedMeanwhile);
    SKERRY_ASSIGN_OR_RETURN(PreparedEntry::Site site, SiteFor(change, place));
    // A link that is prepared in another directory leads elsewhere; such a link is checked in its place only.
    const bool beside = site.directory == place.parent.get();
    SKERRY_ASSIGN_OR_RETURN(PreparedEntry entry, PreparedEntry::Link(std::move(site), change.target));
    const std::string prepared_path = JoinPath(ParentOf(change.path), entry.name());
    std::string obstacle =
        beside ? FollowedLinkObstacle(layers_.lower, prepared_path, layers_.limits.links) : std::string();
    if (!obstacle.empty()) {
      WithholdLink(change, std::move(obstacle));
      return false;
    }
    SKERRY_RETURN_IF_ERROR(Settle(change, place, entry, base::Sha256Hex(change.target)));
    return true;
  }

  // Whether the link is gone.
  bool TakeBack(const Change& change, std::string reason) {
    const auto place = FindPlace(layers_.lower, change.path);
    if (!place || !layers_.IsSameLink(*place, change)) return false;
    const bool removed = layers_.journal.Remove(change.path, *place).has_value();
    WithholdLink(change, removed ? std::move(reason) : reason + "; it could not be removed again");
    return removed;
  }

  void WithholdLink(const Change& link, std::string reason) {
    refused_.AddLink(link);
    Withhold(link.path, std::move(reason));
  }

  // --- deletions

  void Delete(const std::string& path) {
    if (all_written_) return Add(ExecuteRemoval(layers_, PlanRemoval(layers_, path)));
    if (const auto place = FindPlace(layers_.lower, path); place && place->entry) Withhold(path, kKept);
  }

  // Deletes what the lower layer has in an opaque directory and the upper has not.
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

  // Where the entry for `place` is prepared.
  [[nodiscard]] base::Result<PreparedEntry::Site> SiteFor(const Change& change, const Place& place) const {
    SKERRY_ASSIGN_OR_RETURN(const int stage, layers_.journal.Stage());
    std::string name = base::RandomId(kPreparedPrefix);
    if (stage < 0) SKERRY_RETURN_IF_ERROR(layers_.journal.BeforePreparing(JoinPath(ParentOf(change.path), name)));
    return PreparedEntry::Site{place, stage < 0 ? place.parent.get() : stage, std::move(name)};
  }

  // Moves a prepared entry into its place. What is in the way is removed first, all of it or nothing.
  base::Status Settle(const Change& change, const Place& place, PreparedEntry& entry, const std::string& sha256) {
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
    if (directory) {
      SKERRY_RETURN_IF_ERROR(layers_.journal.BeforeDirectory(change.path));
      return entry.MoveTo(place);
    }
    const bool replaced = place.entry && !place.HoldsDirectory();
    static const Place kNowhere;
    SKERRY_RETURN_IF_ERROR(layers_.journal.BeforeMove(change.path, replaced ? place : kNowhere, entry.facts(), sha256));
    SKERRY_RETURN_IF_ERROR(entry.MoveTo(place));
    Note(change, replaced ? core::FileAction::kChanged : core::FileAction::kCreated, entry.facts(), sha256);
    return {};
  }

  void Note(const Change& change, core::FileAction action, const struct stat& facts, const std::string& sha256) {
    (action == core::FileAction::kChanged ? report_.changed : report_.created).push_back(change.path);
    if (std::string told = layers_.rules.Tells(change); !told.empty())
      report_.to_review.push_back({change.path, std::move(told)});
    if (layers_.limits.hashing == Hashing::kNone) return;
    report_.changes.push_back({.path = change.path,
                               .action = action,
                               .kind = change.kind == ChangeKind::kLink ? core::FileKind::kLink : core::FileKind::kFile,
                               .size = static_cast<std::uint64_t>(facts.st_size),
                               .mode = facts.st_mode & ACCESSPERMS,
                               .sha256 = sha256});
  }

  bool Refused(const Change& change) {
    std::string refusal = layers_.Refusal(change);
    if (refusal.empty()) return false;
    Withhold(change.path, std::move(refusal));
    return true;
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
    std::ranges::sort(report_.to_review, {}, &Withheld::path);
    if (layers_.limits.hashing != Hashing::kNone) AddDeletions();
    return std::move(report_);
  }

  // A path that was deleted and made anew, such as a file for a directory, is a change.
  void AddDeletions() {
    for (const std::string& path : report_.deleted)
      if (!std::ranges::binary_search(report_.created, path))
        report_.changes.push_back({.path = path, .action = core::FileAction::kRemoved});
    std::ranges::sort(report_.changes, {}, &core::FileChange::path);
  }

  const Layers& layers_;
  const OverlayChanges& found_;
  RefusedContents& refused_;  // that of the layers
  CommitReport report_;
  std::uint64_t freed_ = 0;  // bytes of files that are replaced or will be deleted
  bool all_written_;         // otherwise a file that would be deleted may be the only copy of its content
  std::string covered_;      // the directory that was refused last
  std::vector<const Change*> links_;
  std::vector<const Change*> deletions_;
  std::vector<const Change*> opaque_;
};

}  // namespace

base::Result<CommitReport> Commit(int upper, int lower, CommitRules& rules, const CommitLimits& limits,
                                  CommitJournal& journal) {
  const base::UniqueFd directory(::openat(lower, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!directory.valid()) return os::ErrnoErr("open the directory");
  SKERRY_ASSIGN_OR_RETURN(OverlayChanges found, ReadOverlayChanges(upper, limits.walk));
  if (limits.memory != nullptr) limits.memory->Compare(upper, found);
  if (limits.marks != nullptr) AddMarks(*limits.marks, found);
  Layers layers{.upper = upper, .lower = directory.get(), .rules = rules, .limits = limits, .journal = journal};
  rules.Begin(found);
  RefusedContents refused(layers, found);
  layers.refused = &refused;
  CommitReport report = Committer(layers, found, refused).Run();
  report.untouched = found.complete && found.changes.empty();
  SKERRY_RETURN_IF_ERROR(journal.Complete());
  return report;
}

}  // namespace skerry::workspace
