#include "workspace/removal.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <ranges>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "os/errno_error.hpp"

namespace skerry::workspace {
namespace {

constexpr const char* kTooMany = "holds more than can be listed";

// Why the entry has to stay; empty when it can be removed.
std::string Obstacle(const Layers& layers, const std::string& path, const Place& place) {
  std::string refusal = layers.Refusal({.path = path, .kind = ChangeKind::kDeletion, .mode = place.entry->st_mode});
  if (!refusal.empty()) return refusal;
  if (layers.ChangedMeanwhile(place)) return kChangedMeanwhile;
  if (std::string lost = layers.WouldBeLost(path, place); !lost.empty()) return lost;
  return DepthOf(path) > layers.limits.walk.max_depth ? "too deep" : "";
}

base::Result<std::vector<std::string>> PathsIn(const Layers& layers, const std::string& directory) {
  SKERRY_ASSIGN_OR_RETURN(base::UniqueFd fd, OpenDirectoryBeneath(layers.lower, directory, Locked::kLeave));
  SKERRY_ASSIGN_OR_RETURN(std::vector<std::string> names, NamesIn(std::move(fd), layers.limits.walk.max_entries));
  for (std::string& name : names) name = JoinPath(directory, name);
  return names;
}

class Planner {
 public:
  explicit Planner(const Layers& layers) : layers_(layers) {}

  RemovalPlan Run(const std::string& top) {
    pending_ = {top};
    while (!pending_.empty()) {
      if (plan_.going.size() + pending_.size() > layers_.limits.walk.max_entries)
        return {.going = {}, .staying = {{top, kTooMany}}};
      const std::string path = std::move(pending_.back());
      pending_.pop_back();
      if (std::string obstacle = Add(path); !obstacle.empty()) plan_.staying.push_back({path, std::move(obstacle)});
    }
    std::ranges::sort(plan_.going, PathBefore, &RemovalPlan::Entry::path);
    return std::move(plan_);
  }

 private:
  // Adds the entry to the plan, if it exists. Gives why it has to stay.
  std::string Add(const std::string& path) {
    const auto place = FindPlace(layers_.lower, path);
    if (!place) return place.error().message;
    if (!place->entry) return {};
    if (std::string obstacle = Obstacle(layers_, path, *place); !obstacle.empty()) return obstacle;
    if (place->HoldsDirectory()) {
      auto paths = PathsIn(layers_, path);
      if (!paths) return paths.error().message;
      std::ranges::move(*paths, std::back_inserter(pending_));
    }
    plan_.going.push_back({path, place->HoldsDirectory()});
    return {};
  }

  const Layers& layers_;
  RemovalPlan plan_;
  std::vector<std::string> pending_;
};

// The entries of the directory are removed, so it is made writable first.
void Unlock(int lower, const std::string& directory) {
  const auto fd = OpenBeneath(lower, directory, O_RDONLY | O_DIRECTORY);
  struct stat facts{};
  if (fd && ::fstat(fd->get(), &facts) == 0) (void)::fchmod(fd->get(), (facts.st_mode & ALLPERMS) | S_IRWXU);
}

enum class Parent { kGoes, kStays };
enum class Gone { kByUs, kAlready };

base::Status RemoveOnce(const Layers& layers, const RemovalPlan::Entry& entry, const Place& place) {
  if (!entry.is_directory) return layers.journal.Remove(entry.path, place);
  SKERRY_RETURN_IF_ERROR(layers.journal.BeforeRemoval(entry.path, *place.entry));
  if (::unlinkat(place.parent.get(), place.name.c_str(), AT_REMOVEDIR) < 0) return os::ErrnoErr("cannot be deleted");
  return {};
}

base::Result<Gone> Remove(const Layers& layers, const RemovalPlan::Entry& entry, Parent parent) {
  SKERRY_ASSIGN_OR_RETURN(const Place place, FindPlace(layers.lower, entry.path));
  if (!place.entry) return Gone::kAlready;
  auto removed = RemoveOnce(layers, entry, place);
  if (!removed && removed.error().code == base::Code::kPermissionDenied && parent == Parent::kGoes) {
    Unlock(layers.lower, std::string(ParentOf(entry.path)));
    removed = RemoveOnce(layers, entry, place);
  }
  if (!removed && removed.error().code == base::Code::kNotFound) return Gone::kAlready;
  if (!removed) return std::unexpected(removed.error());
  return Gone::kByUs;
}

// The directories that cannot be removed, because an entry in them stays.
class Kept {
 public:
  void AddParentsOf(std::string_view path) {
    for (path = ParentOf(path); !path.empty() && paths_.emplace(path).second; path = ParentOf(path)) {
    }
  }
  [[nodiscard]] bool Holds(const std::string& path) const { return paths_.contains(path); }

 private:
  std::unordered_set<std::string> paths_;
};

}  // namespace

RemovalPlan PlanRemoval(const Layers& layers, const std::string& top) {
  return Planner(layers).Run(top);
}

Removed ExecuteRemoval(const Layers& layers, const RemovalPlan& plan) {
  Removed removed{.deleted = {}, .withheld = plan.staying};
  Kept kept;
  for (const Withheld& stays : plan.staying) kept.AddParentsOf(stays.path);
  // The entries of a directory are removed before the directory.
  for (const RemovalPlan::Entry& entry : plan.going | std::views::reverse) {
    if (kept.Holds(entry.path)) continue;
    const bool is_top = &entry == &plan.going.front();
    const auto gone = Remove(layers, entry, is_top ? Parent::kStays : Parent::kGoes);
    if (!gone) {
      removed.withheld.push_back({entry.path, gone.error().message});
      kept.AddParentsOf(entry.path);
    } else if (*gone == Gone::kByUs && !entry.is_directory) {
      removed.deleted.push_back(entry.path);
    }
  }
  return removed;
}

}  // namespace skerry::workspace
