#include "engine/live_sandbox.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <array>
#include <chrono>

namespace skerry::engine {
namespace {

constexpr std::chrono::seconds kFreezePatience{5};

}  // namespace

void NoticeNewLayer(LiveSandbox& live) {
  const auto view = live.sandbox->files().Local();
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

base::Status Revive(LiveSandbox& live, base::Deadline deadline, const std::stop_token& stop) {
  SKERRY_RETURN_IF_ERROR(live.sandbox->Start(deadline, stop));
  NoticeNewLayer(live);
  if (!live.mirror) return {};
  live.mirror->Forget();
  return live.mirror->Push(deadline, stop);
}

base::Status Standing(LiveSandbox& live, const std::function<base::Status()>& act) {
  NoticeNewLayer(live);
  // The last commit of a layer compares everything: changes that it misses are lost.
  if (!live.sandbox->IsRunning()) live.memory.ForgetAccesses();
  core::Pausing* pausing = live.sandbox->pausing();
  const auto deadline = base::Deadline::After(kFreezePatience);
  const base::Status frozen = pausing != nullptr ? pausing->Freeze(deadline)
                                                 : base::Err(base::Code::kUnavailable, "this sandbox cannot be frozen");
  if (!frozen && live.degraded.empty())
    live.degraded.push_back("workspace: changes are read while programs go on (" + frozen.error().message + ")");
  const auto done = act();
  const auto thawed = frozen ? pausing->Thaw(base::Deadline::After(kFreezePatience)) : base::Status{};
  return done ? thawed : done;
}

base::UniqueFd FilesOf(LiveSandbox& live) {
  const auto again = [](int fd) { return base::UniqueFd(fd >= 0 ? ::fcntl(fd, F_DUPFD_CLOEXEC, 0) : -1); };
  if (live.mirror) return again(live.directory);
  const std::scoped_lock lock(live.order);
  const auto view = live.sandbox->files().Local();
  return again(view ? view->merged : -1);
}

TreeLook LookAround(LiveSandbox& live, const std::stop_token& stop) {
  constexpr std::array kBesideWorkspace = {"tmp", "home/agent", "dev/shm"};
  std::vector<base::UniqueFd> opened;
  opened.push_back(FilesOf(live));
  std::vector<Tree> trees = {{"workspace", opened.front().get()}};
  if (live.mirror) {
    TreeLook look = LookAtTrees(trees, {}, stop);
    if (look.rest.empty()) look.rest = "what the sandbox holds besides its workspace is elsewhere";
    return look;
  }
  for (const char* name : kBesideWorkspace) {
    const std::scoped_lock lock(live.order);
    const auto view = live.sandbox->files().Local();
    opened.emplace_back(view ? ::openat(view->root, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC) : -1);
    trees.push_back({name, opened.back().get()});
  }
  return LookAtTrees(trees, {}, stop);
}

}  // namespace skerry::engine
