#include "workspace/refused_contents.hpp"

#include "workspace/file_copy.hpp"
#include "workspace/layers.hpp"

namespace skerry::workspace {

RefusedContents::RefusedContents(const Layers& layers, const OverlayChanges& found) {
  std::string covered;
  for (const Change& change : found.changes) {
    const bool below = !covered.empty() && IsBelow(change.path, covered);
    if (change.kind == ChangeKind::kDirectory && !below && !layers.Refusal(change).empty()) covered = change.path;
    if (change.kind != ChangeKind::kFile || change.size == 0) continue;
    if (below || !layers.Refusal(change).empty()) by_size_[change.size].push_back(change.path);
  }
}

std::string RefusedContents::HolderOf(const Layers& layers, const std::string& path, const Place& place) const {
  constexpr std::size_t kMost = 100;  // of the same size
  if (!place.HoldsFile()) return {};
  const auto same_size = by_size_.find(static_cast<std::uint64_t>(place.entry->st_size));
  if (same_size == by_size_.end()) return {};
  const auto old = OpenFileBeneath(layers.lower, path, Locked::kLeave);
  if (!old) return {};
  for (std::size_t i = 0; i < same_size->second.size() && i < kMost; ++i) {
    const std::string& refused = same_size->second[i];
    if (refused == path) continue;
    const auto moved = OpenFileBeneath(layers.upper, refused, Locked::kUnlock);
    if (moved && SameContent(old->get(), moved->get(), same_size->first)) return refused;
  }
  return {};
}

}  // namespace skerry::workspace
