#include "workspace/refused_contents.hpp"

#include <ranges>

#include "os/files.hpp"
#include "workspace/file_copy.hpp"
#include "workspace/layers.hpp"
#include "workspace/link_check.hpp"

namespace skerry::workspace {
namespace {

// The first path under `key` other than `path`.
template <class Map, class Key>
std::string OtherThan(const std::string& path, const Map& map, const Key& key) {
  const auto [first, last] = map.equal_range(key);
  for (const auto& [unused, holder] : std::ranges::subrange(first, last))
    if (holder != path) return holder;
  return {};
}

}  // namespace

RefusedContents::RefusedContents(const Layers& layers, const OverlayChanges& found) {
  std::string covered;
  for (const Change& change : found.changes) {
    const bool below = !covered.empty() && IsBelow(change.path, covered);
    if (change.kind == ChangeKind::kDirectory && !below && !layers.Refusal(change).empty()) covered = change.path;
    const bool link = change.kind == ChangeKind::kLink;
    if (change.kind != ChangeKind::kFile && !link) continue;
    if (below || !layers.Refusal(change).empty()) {
      Add(change, below ? covered : change.path);
    } else if (link && !LinkObstacle(change.path, change.target, layers.limits.links).empty()) {
      AddLink(change);
    }
  }
}

void RefusedContents::Add(const Change& change, std::string_view refused) {
  by_name_.emplace(change.path.substr(refused.size() - NameOf(refused).size()), change.path);
  if (change.kind == ChangeKind::kLink) AddLink(change);
  if (change.kind == ChangeKind::kFile && change.size > 0) by_size_[change.size].push_back(change.path);
}

std::string RefusedContents::HolderOf(const Layers& layers, const std::string& path, const Place& place) const {
  if (!place.HoldsFile() && !place.HoldsLink()) return {};
  std::string holder = place.HoldsFile() ? WithContentOf(layers, path, place) : WithTargetOf(path, place);
  return holder.empty() ? WithNameOf(layers, path, place) : holder;
}

std::string RefusedContents::WithContentOf(const Layers& layers, const std::string& path, const Place& place) const {
  constexpr std::size_t kMost = 100;  // files of the same size
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

std::string RefusedContents::WithTargetOf(const std::string& path, const Place& place) const {
  if (by_target_.empty()) return {};
  const auto target = os::ReadLink(place.parent.get(), place.name);
  return target ? OtherThan(path, by_target_, *target) : std::string();
}

std::string RefusedContents::WithNameOf(const Layers& layers, const std::string& path, const Place& place) const {
  if (by_name_.empty()) return {};
  for (std::string_view above = path; !above.empty();) {
    above = ParentOf(above);
    const std::string_view tail = std::string_view(path).substr(above.empty() ? 0 : above.size() + 1);
    std::string holder = OtherThan(path, by_name_, tail);
    if (holder.empty()) continue;
    const ChangeKind kind = place.HoldsLink() ? ChangeKind::kLink : ChangeKind::kFile;
    const bool refused = !layers.Refusal({.path = path, .kind = kind, .mode = place.entry->st_mode}).empty();
    return refused ? holder : std::string();
  }
  return {};
}

}  // namespace skerry::workspace
