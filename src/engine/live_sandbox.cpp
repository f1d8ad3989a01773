#include "engine/live_sandbox.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <array>

namespace skerry::engine {

void NoticeNewLayer(LiveSandbox& live) {
  const auto view = live.sandbox->View();
  struct stat now{};
  if (!view || ::fstat(view->changes, &now) != 0) return;
  const LiveSandbox::Layer layer{now.st_dev, now.st_ino};
  if (layer == live.layer) return;
  if (live.layer != LiveSandbox::Layer{}) {
    live.memory = {};
    ++live.generation;
  }
  live.layer = layer;
}

base::Status Standing(LiveSandbox& live, const std::function<base::Status()>& act) {
  NoticeNewLayer(live);
  // The last look at a layer takes nothing for granted: what it does not see is lost.
  if (!live.sandbox->IsRunning()) live.memory.ForgetAccesses();
  const auto frozen = live.sandbox->Freeze();
  if (!frozen && live.degraded.empty())
    live.degraded.push_back("workspace: changes are read while programs go on (" + frozen.error().message + ")");
  const auto done = act();
  const auto thawed = frozen ? live.sandbox->Thaw() : base::Status{};
  return done ? thawed : done;
}

base::UniqueFd FilesOf(LiveSandbox& live) {
  const std::scoped_lock lock(live.order);
  const auto view = live.sandbox->View();
  return base::UniqueFd(view && view->merged >= 0 ? ::fcntl(view->merged, F_DUPFD_CLOEXEC, 0) : -1);
}

TreeLook LookAround(LiveSandbox& live, const std::stop_token& stop) {
  constexpr std::array kBesideWorkspace = {"tmp", "home/agent", "dev/shm"};
  std::vector<base::UniqueFd> opened;
  opened.push_back(FilesOf(live));
  std::vector<Tree> trees = {{"workspace", opened.front().get()}};
  for (const char* name : kBesideWorkspace) {
    const std::scoped_lock lock(live.order);
    const auto view = live.sandbox->View();
    opened.emplace_back(view ? ::openat(view->root, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC) : -1);
    trees.push_back({name, opened.back().get()});
  }
  return LookAtTrees(trees, {}, stop);
}

}  // namespace skerry::engine
