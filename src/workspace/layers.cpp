#include "workspace/layers.hpp"

#include <sys/stat.h>

#include <chrono>

#include "os/files.hpp"

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
  return rules.Refuses(change, LayerContents(*this, change.path));
}

bool Layers::ChangedMeanwhile(const Place& place) const {
  // A directory's own time says only that something came or went in it, which is asked for by itself.
  if (!limits.since || !place.entry || S_ISDIR(place.entry->st_mode)) return false;
  const timespec& changed = place.entry->st_ctim;
  return std::chrono::seconds(changed.tv_sec) + std::chrono::nanoseconds(changed.tv_nsec) >
         limits.since->time_since_epoch();
}

}  // namespace skerry::workspace
