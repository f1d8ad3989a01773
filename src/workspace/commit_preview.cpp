#include "workspace/commit_preview.hpp"

#include <fcntl.h>

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>

#include "workspace/beneath.hpp"
#include "workspace/layers.hpp"
#include "workspace/link_check.hpp"
#include "workspace/removal.hpp"

namespace skerry::workspace {
namespace {

class Preview {
 public:
  Preview(const Layers& layers, const OverlayChanges& found) : layers_(layers), found_(found) {}

  CommitReport Run() {
    for (const Change& change : found_.changes)
      if (covered_.empty() || !IsBelow(change.path, covered_)) Take(change);
    std::ranges::sort(report_.created);
    std::ranges::sort(report_.changed);
    std::ranges::sort(report_.deleted);
    std::ranges::sort(report_.withheld, {}, &Withheld::path);
    return std::move(report_);
  }

 private:
  void Take(const Change& change) {
    if (change.kind == ChangeKind::kOther) return Withhold(change.path, change.obstacle);
    if (change.kind == ChangeKind::kDeletion) return Remove(change.path);
    const Place place = PlaceOf(change.path);
    if (change.kind == ChangeKind::kDirectory) return TakeDirectory(change, place);
    if (IsSame(change, place)) return;
    if (std::string obstacle = ObstacleOf(change, place); !obstacle.empty())
      return Withhold(change.path, std::move(obstacle));
    if (place.HoldsDirectory()) Remove(change.path);
    const bool replaces = place.entry && !place.HoldsDirectory();
    (replaces ? report_.changed : report_.created).push_back(change.path);
    if (std::string told = layers_.rules.Tells(change); !told.empty())
      report_.to_review.push_back({change.path, std::move(told)});
    report_.bytes += change.size;
  }

  // A path below a directory that is yet to be made has no place.
  [[nodiscard]] Place PlaceOf(const std::string& path) const {
    auto place = FindPlace(layers_.lower, path);
    return place ? std::move(*place) : Place{};
  }

  [[nodiscard]] bool IsSame(const Change& change, const Place& place) const {
    if (!place.entry) return false;
    if (change.kind == ChangeKind::kLink) return Layers::IsSameLink(place, change);
    const auto source = OpenFileBeneath(layers_.upper, change.path, Locked::kUnlock);
    return source && layers_.IsSameFile(place, change, source->get());
  }

  [[nodiscard]] std::string ObstacleOf(const Change& change, const Place& place) const {
    if (std::string refusal = layers_.Refusal(change); !refusal.empty()) return refusal;
    if (change.kind == ChangeKind::kLink)
      if (std::string obstacle = LinkObstacle(change.path, change.target, layers_.limits.links); !obstacle.empty())
        return obstacle;
    if (change.size > layers_.limits.max_file_bytes) return "is too large";
    return layers_.ChangedMeanwhile(place) ? kChangedMeanwhile : "";
  }

  void TakeDirectory(const Change& change, const Place& place) {
    if (std::string refusal = layers_.Refusal(change); !refusal.empty()) {
      covered_ = change.path;
      return Withhold(change.path, std::move(refusal));
    }
    if (place.entry && !place.HoldsDirectory()) return Remove(change.path);
    if (change.opaque && place.HoldsDirectory()) RemoveHidden(change.path);
  }

  void RemoveHidden(const std::string& directory) {
    auto fd = OpenDirectoryBeneath(layers_.lower, directory, Locked::kLeave);
    if (!fd) return Withhold(directory, fd.error().message);
    const auto names = NamesIn(std::move(*fd), layers_.limits.walk.max_entries);
    if (!names) return Withhold(directory, names.error().message);
    for (const std::string& name : *names)
      if (const std::string path = JoinPath(directory, name);
          !std::ranges::binary_search(found_.changes, path, PathBefore, &Change::path))
        Remove(path);
  }

  void Remove(const std::string& path) {
    RemovalPlan plan = PlanRemoval(layers_, path);
    for (RemovalPlan::Entry& entry : plan.going)
      if (!entry.is_directory) report_.deleted.push_back(std::move(entry.path));
    std::ranges::move(plan.staying, std::back_inserter(report_.withheld));
  }

  void Withhold(std::string path, std::string reason) {
    report_.withheld.push_back({std::move(path), std::move(reason)});
  }

  const Layers& layers_;
  const OverlayChanges& found_;
  CommitReport report_;
  std::string covered_;  // the directory that was refused last
};

}  // namespace

base::Result<CommitReport> PreviewCommit(int upper, int lower, CommitRules& rules, const CommitLimits& limits) {
  SKERRY_ASSIGN_OR_RETURN(OverlayChanges found, ReadOverlayChanges(upper, limits.walk));
  if (limits.marks != nullptr) AddMarks(*limits.marks, found);
  rules.Begin(found);
  CommitJournal none;
  Layers layers{.upper = upper, .lower = lower, .rules = rules, .limits = limits, .journal = none};
  const RefusedContents refused(layers, found);
  layers.refused = &refused;
  return Preview(layers, found).Run();
}

}  // namespace skerry::workspace
