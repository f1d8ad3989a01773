#include "workspace/layer_memory.hpp"

#include <fcntl.h>

#include <algorithm>
#include <utility>

#include "os/file_writers.hpp"
#include "workspace/beneath.hpp"
#include "workspace/file_copy.hpp"

namespace skerry::workspace {

namespace {

bool IsSameTime(const timespec& left, const timespec& right) {
  return left.tv_sec == right.tv_sec && left.tv_nsec == right.tv_nsec;
}

}  // namespace

// One comparison.
class LayerMemory::Look {
 public:
  explicit Look(int upper) : upper_(upper) { ::clock_gettime(CLOCK_REALTIME, &now_); }

  // The entry as it is now, and whether it is unchanged.
  std::pair<Seen, bool> At(const Change& change, const Seen* before) {
    Seen seen{.kind = change.kind,
              .mode = change.mode,
              .size = change.size,
              .inode = change.inode,
              .changed = Settled(change.changed),
              .accessed = Settled(change.accessed),
              .content = {}};
    const bool like_before = before != nullptr && before->kind == change.kind && before->mode == change.mode &&
                             before->size == change.size && before->inode == change.inode &&
                             IsSameTime(before->changed, change.changed);
    if (change.kind != ChangeKind::kFile) return {seen, like_before};
    if (like_before && !before->content.writers && IsSameTime(before->accessed, change.accessed)) {
      seen.content = before->content;
      return {seen, true};
    }
    seen.content = ContentOf(change);
    return {seen, like_before && seen.content.digest && seen.content.digest == before->content.digest};
  }

 private:
  // The clock of files ticks in steps of some milliseconds: a file that was changed just now can be changed again
  // without another time.
  [[nodiscard]] timespec Settled(const timespec& time) const {
    constexpr std::int64_t kMargin = 100'000'000;
    const std::int64_t age = (now_.tv_sec - time.tv_sec) * std::int64_t{1'000'000'000} + (now_.tv_nsec - time.tv_nsec);
    return age > kMargin ? time : timespec{};
  }

  // A file with several names is read once.
  Content ContentOf(const Change& change) {
    const auto [found, added] = contents_.try_emplace(change.inode);
    if (!added) return found->second;
    auto fd = OpenBeneath(upper_, change.path, O_RDONLY | O_NONBLOCK);
    if (!fd) fd = OpenFileBeneath(upper_, change.path, Locked::kUnlock);
    if (!fd) return found->second;
    // The writers are asked for first: a writer that comes after this question leaves a later time than the remembered
    // one.
    found->second.writers = os::MayHaveWriters(fd->get());
    if (const auto digest = DigestOfData(fd->get())) found->second.digest = *digest;
    return found->second;
  }

  int upper_;
  timespec now_{};
  std::map<std::uint64_t, Content> contents_;  // by inode
};

void LayerMemory::Compare(int upper, OverlayChanges& found) {
  Look look(upper);
  std::map<std::string, Seen> now;
  std::erase_if(found.changes, [&](const Change& change) {
    const auto before = seen_.find(change.path);
    const auto [seen, same] = look.At(change, before == seen_.end() ? nullptr : &before->second);
    now.emplace_hint(now.end(), change.path, seen);
    // Directories stay in the list: entries below them are judged by them.
    return same && change.kind != ChangeKind::kDirectory;
  });
  if (!found.complete) return;  // an entry that is missing in a list that was cut may still be there
  for (const auto& [path, seen] : seen_)
    if (seen.kind != ChangeKind::kDeletion && seen.kind != ChangeKind::kOther && !now.contains(path))
      found.changes.push_back({.path = path, .kind = ChangeKind::kDeletion});
  std::ranges::sort(found.changes, PathBefore, &Change::path);
  seen_ = std::move(now);
}

void LayerMemory::ForgetAccesses() {
  for (auto& [path, seen] : seen_) seen.accessed = {};
}

}  // namespace skerry::workspace
