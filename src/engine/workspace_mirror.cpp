#include "engine/workspace_mirror.hpp"

#include <fcntl.h>

#include <ranges>
#include <utility>

#include "base/ids.hpp"
#include "os/errno_error.hpp"
#include "os/own_directory.hpp"
#include "os/owned_name.hpp"
#include "os/remove_tree.hpp"
#include "workspace/directory_files.hpp"
#include "workspace/tar_unpack.hpp"

namespace skerry::engine {
namespace {

constexpr const char* kTemporary = "/tmp";
constexpr char kPrefix[] = "skerry-layer-";

bool IsBelowAny(const std::string& path, const core::FileMark& mark) {
  for (std::size_t slash = path.find('/'); slash != std::string::npos; slash = path.find('/', slash + 1))
    if (const auto above = mark.find(path.substr(0, slash));
        above == mark.end() || above->second.kind != core::FileState::Kind::kDirectory)
      return true;
  return false;
}

// The removed paths, without those below a path that is no directory any more.
std::vector<std::string> Topmost(const std::vector<std::string>& removed, const core::FileMark& now) {
  std::vector<std::string> top;
  for (const std::string& path : removed)
    if (!IsBelowAny(path, now)) top.push_back(path);
  return top;
}

}  // namespace

base::Result<ReceivedLayer> ReceivedLayer::Make(int stage) {
  base::UniqueFd parent(stage >= 0 ? ::fcntl(stage, F_DUPFD_CLOEXEC, 0)
                                   : ::open(kTemporary, O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!parent.valid()) return os::ErrnoErr("open the place for changes");
  if (stage < 0) os::SweepOwned(kTemporary, kPrefix);
  ReceivedLayer layer(std::move(parent), os::OwnedName(kPrefix));
  SKERRY_ASSIGN_OR_RETURN(layer.directory_, os::OpenOwnPart(layer.parent_.get(), layer.name_.c_str()));
  return layer;
}

ReceivedLayer::~ReceivedLayer() {
  if (directory_.valid()) (void)os::RemoveTree(parent_.get(), name_);
}

base::Status WorkspaceMirror::Push(base::Deadline deadline, const std::stop_token& stop) {
  SKERRY_ASSIGN_OR_RETURN(core::FileMark now, workspace::MarkDirectory(directory_, deadline, stop));
  core::FilesChanged changes = core::Compare(here_, std::move(now));
  if (changes.changed.empty() && changes.removed.empty()) return {};
  const std::vector<std::string> gone = Topmost(changes.removed, changes.now);
  if (!gone.empty()) SKERRY_RETURN_IF_ERROR(inside_.Remove(gone, deadline, stop));
  if (!changes.changed.empty()) {
    SKERRY_ASSIGN_OR_RETURN(const auto packed, workspace::PackEntries(directory_, changes.changed, deadline, stop));
    SKERRY_RETURN_IF_ERROR(inside_.Import(*packed, deadline, stop));
  }
  SKERRY_ASSIGN_OR_RETURN(core::FileMark after, inside_.Mark(deadline, stop));
  if (here_.empty() && there_.empty()) {
    there_ = std::move(after);
  } else {
    // Changes that programs made to other files meanwhile are still to be pulled.
    for (const std::string& path : changes.removed) there_.erase(path);
    for (const std::string& path : changes.changed)
      if (const auto found = after.find(path); found != after.end()) there_.insert_or_assign(path, found->second);
  }
  here_ = std::move(changes.now);
  return {};
}

base::Result<ReceivedLayer> WorkspaceMirror::Pull(Extent extent, base::Deadline deadline, const std::stop_token& stop) {
  SKERRY_ASSIGN_OR_RETURN(ReceivedLayer layer, ReceivedLayer::Make(stage_));
  SKERRY_ASSIGN_OR_RETURN(core::FilesChanged changes, inside_.ChangesSince(there_, deadline, stop));
  layer.marks.deleted = Topmost(changes.removed, changes.now);
  for (const std::string& path : changes.changed) {
    const auto before = there_.find(path);
    const bool replaces = before != there_.end() && before->second.kind != core::FileState::Kind::kDirectory;
    if (replaces && changes.now.at(path).kind == core::FileState::Kind::kDirectory) layer.marks.opaque.push_back(path);
  }
  layer.has_files = !changes.changed.empty();
  std::vector<std::string> wanted = changes.changed;
  if (extent == Extent::kEverything && !layer.empty()) {
    const auto all = std::views::keys(changes.now);
    wanted.assign(all.begin(), all.end());
  }
  if (!wanted.empty()) {
    SKERRY_ASSIGN_OR_RETURN(const auto packed, inside_.Export(wanted, deadline, stop));
    SKERRY_RETURN_IF_ERROR(workspace::UnpackTar(layer.directory(), *packed, {.deadline = deadline, .stop = stop}));
  }
  pulled_ = std::move(changes.now);
  return layer;
}

base::Status WorkspaceMirror::Settle(base::Deadline deadline, const std::stop_token& stop) {
  SKERRY_ASSIGN_OR_RETURN(here_, workspace::MarkDirectory(directory_, deadline, stop));
  there_ = std::move(pulled_);
  return {};
}

void WorkspaceMirror::Forget() {
  here_.clear();
  there_.clear();
  pulled_.clear();
}

}  // namespace skerry::engine
