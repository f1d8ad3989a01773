#include "workspace/layer_memory.hpp"

#include <algorithm>
#include <utility>

#include "workspace/beneath.hpp"

namespace skerry::workspace {

namespace {

// The clock of files ticks by some milliseconds: what was changed just now can be changed again without another time.
bool IsSettled(const timespec& changed) {
  constexpr std::int64_t kMargin = 100'000'000;
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  return (now.tv_sec - changed.tv_sec) * std::int64_t{1'000'000'000} + (now.tv_nsec - changed.tv_nsec) > kMargin;
}

}  // namespace

void LayerMemory::Compare(OverlayChanges& found) {
  std::map<std::string, Seen> now;
  for (const Change& change : found.changes)
    now.emplace(change.path,
                Seen{change.kind, change.mode, change.size, IsSettled(change.changed) ? change.changed : timespec{}});
  // Directories stay: what is below them is judged by them.
  std::erase_if(found.changes, [&](const Change& change) {
    const auto before = seen_.find(change.path);
    return before != seen_.end() && change.kind != ChangeKind::kDirectory && before->second.kind == change.kind &&
           before->second.mode == change.mode && before->second.size == change.size &&
           before->second.changed.tv_sec == change.changed.tv_sec &&
           before->second.changed.tv_nsec == change.changed.tv_nsec;
  });
  if (!found.complete) return;  // what is not in a list that was cut may be there
  for (const auto& [path, seen] : seen_)
    if (seen.kind != ChangeKind::kDeletion && seen.kind != ChangeKind::kOther && !now.contains(path))
      found.changes.push_back({.path = path, .kind = ChangeKind::kDeletion});
  std::ranges::sort(found.changes, PathBefore, &Change::path);
  seen_ = std::move(now);
}

}  // namespace skerry::workspace
