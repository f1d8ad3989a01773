#include "workspace/import_undo.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <ranges>
#include <utility>

#include "base/ids.hpp"
#include "workspace/path_errors.hpp"
#include "workspace/tree_walk.hpp"

namespace skerry::workspace {

ImportUndo::ImportUndo(AgentWorkspace& workspace)
    : workspace_(workspace), prefix_(std::string(kPrivatePrefix) + "import-" + base::RandomId("") + "-") {}

ImportUndo::~ImportUndo() {
  if (!kept_)
    for (const Step& step : std::views::reverse(steps_)) TakeBack(step);
  if (!steps_.empty()) workspace_.Recount();
}

void ImportUndo::Made(std::string path) {
  steps_.push_back({.path = std::move(path)});
}

base::Status ImportUndo::Replacing(const std::string& path) {
  const auto place = workspace_.resolver().Find(path, Resolver::LastLink::kKeep);
  if (!place) return std::unexpected(Named(path, place.error()));
  const std::string saved = prefix_ + std::to_string(steps_.size());
  const int parent = place->parent.get();
  const char* name = place->name.c_str();
  // A second name costs nothing and leaves the file in its place until the new one is complete. Not every file system
  // has hard links, and not every file may get one.
  const bool linked = !place->HoldsLink() && ::linkat(parent, name, parent, saved.c_str(), 0) == 0;
  if (!linked && ::renameat2(parent, name, parent, saved.c_str(), RENAME_NOREPLACE) < 0)
    return std::unexpected(Named(path, PathError(errno)));
  steps_.push_back({.path = path, .saved = saved});
  return {};
}

void ImportUndo::Keep() {
  kept_ = true;
  for (const Step& step : steps_) {
    if (step.saved.empty()) continue;
    const auto place = workspace_.resolver().Find(step.path, Resolver::LastLink::kKeep);
    if (place) (void)::unlinkat(place->parent.get(), step.saved.c_str(), 0);
  }
}

void ImportUndo::TakeBack(const Step& step) const {
  const auto place = workspace_.resolver().Find(step.path, Resolver::LastLink::kKeep);
  if (!place) return;
  const int parent = place->parent.get();
  if (!step.saved.empty()) {
    // rename does nothing when both are names of one file, so the second name is removed afterwards.
    (void)::renameat(parent, step.saved.c_str(), parent, place->name.c_str());
    (void)::unlinkat(parent, step.saved.c_str(), 0);
  } else if (place->HoldsDirectory()) {
    (void)::unlinkat(parent, place->name.c_str(), AT_REMOVEDIR);
  } else {
    (void)::unlinkat(parent, place->name.c_str(), 0);
  }
}

}  // namespace skerry::workspace
