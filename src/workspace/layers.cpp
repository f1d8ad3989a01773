#include "workspace/layers.hpp"

#include <sys/stat.h>

#include <chrono>

#include "os/files.hpp"
#include "workspace/file_copy.hpp"
#include "workspace/tree_walk.hpp"

namespace skerry::workspace {
namespace {

class LayerContents : public ChangeContents {
 public:
  LayerContents(const Layers& layers, const std::string& path) : layers_(layers), path_(path) {}

  [[nodiscard]] base::Result<std::string> ReadNew(std::size_t limit) const override {
    SKERRY_ASSIGN_OR_RETURN(const base::UniqueFd fd, OpenFileBeneath(layers_.upper, path_, Locked::kUnlock));
    return os::ReadAll(fd.get(), limit);
  }
  [[nodiscard]] base::Result<std::string> ReadOld(std::size_t limit) const override {
    SKERRY_ASSIGN_OR_RETURN(const base::UniqueFd fd, OpenFileBeneath(layers_.lower, path_, Locked::kLeave));
    return os::ReadAll(fd.get(), limit);
  }

 private:
  const Layers& layers_;
  const std::string& path_;
};

}  // namespace

std::string Layers::Refusal(const Change& change) const {
  // The file tools do not show such names, and remove such files when they find them.
  const std::string_view name = NameOf(change.path);
  if (change.kind != ChangeKind::kDeletion && (name.starts_with(kPrivatePrefix) || name.starts_with(kPreparedPrefix)))
    return "has a name that Skerry uses for itself";
  return rules.Refuses(change, LayerContents(*this, change.path));
}

bool Layers::IsSameFile(const Place& place, const Change& change, int source) const {
  if (!place.HoldsFile() || static_cast<std::uint64_t>(place.entry->st_size) != change.size) return false;
  if (!HasModeOf(place, change)) return false;
  const auto old = OpenFileBeneath(lower, change.path, Locked::kLeave);
  return old && SameContent(source, old->get(), change.size);
}

bool Layers::IsSameLink(const Place& place, const Change& change) {
  if (!place.HoldsLink()) return false;
  const auto target = os::ReadLink(place.parent.get(), place.name);
  return target && *target == change.target;
}

mode_t Layers::ModeFor(const Place& place, const Change& change) const {
  const bool same_kind = place.entry && (place.entry->st_mode & S_IFMT) == (change.mode & S_IFMT);
  const mode_t before = same_kind ? place.entry->st_mode : 0;
  return change.mode & (limits.mode_mask | before) & ACCESSPERMS;
}

bool Layers::HasModeOf(const Place& place, const Change& change) const {
  return (place.entry->st_mode & ACCESSPERMS) == ModeFor(place, change);
}

std::string Layers::WouldBeLost(const std::string& path, const Place& place) const {
  const std::string holder = refused != nullptr ? refused->HolderOf(*this, path, place) : std::string();
  return holder.empty() ? "" : "was kept, because it may have been moved to " + holder + ", which is not carried over";
}

bool Layers::ChangedMeanwhile(const Place& place) const {
  // The time of a directory only says that an entry came or went, and entries are checked by themselves.
  if (!limits.since || !place.entry || S_ISDIR(place.entry->st_mode)) return false;
  const timespec& changed = place.entry->st_ctim;
  return std::chrono::seconds(changed.tv_sec) + std::chrono::nanoseconds(changed.tv_nsec) >
         limits.since->time_since_epoch();
}

}  // namespace skerry::workspace
