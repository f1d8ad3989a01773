#include "backends/subprocess/subprocess_backend.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "os/errno_error.hpp"
#include "os/landlock.hpp"
#include "os/owned_name.hpp"
#include "os/remove_tree.hpp"
#include "runner/launched_sandbox.hpp"

namespace skerry::backends::subprocess {
namespace {

class SubprocessSandbox : public runner::LaunchedSandbox {
 public:
  SubprocessSandbox(const runner::LaunchProfile& profile, core::SandboxSpec spec)
      : LaunchedSandbox(profile, std::move(spec)), scratch_(profile.scratch) {}
  ~SubprocessSandbox() override {
    (void)LaunchedSandbox::Stop(base::Deadline::Never());  // before the scratch directory is removed
    (void)os::RemoveTree(scratch_);
  }

 private:
  std::string scratch_;
};

constexpr char kScratchPrefix[] = "skerry-scratch-";

}  // namespace

core::Abilities SubprocessBackend::Can() const {
  return {.strength = core::Strength::kProcess,
          .workspace = core::WorkspaceKind::kInPlace,
          .contexts = true,
          .pause = true};
}

base::Status SubprocessBackend::SweepOrphans(base::Deadline) {
  os::SweepOwned(scratch_base_, kScratchPrefix);
  return {};
}

core::Availability SubprocessBackend::Probe(base::Deadline) {
  if (::access(programs_.launcher.c_str(), X_OK) < 0) return {false, "missing program " + programs_.launcher};
  if (os::LandlockAbi() == 0) return {true, "permissive mode only; no Landlock in this kernel: files are not fenced"};
  return {true, "permissive mode only; Landlock around the workspace, seccomp, limits, no namespaces"};
}

base::Result<std::unique_ptr<core::Sandbox>> SubprocessBackend::Create(const core::SandboxSpec& spec) {
  if (!spec.binds.empty() || !spec.hidden.empty() || spec.root || !spec.image.empty())
    return base::Err(base::Code::kUnavailable,
                     "the subprocess sandbox has no mounts of its own: no images, no binds, no filesystem.denyRead");
  if (!spec.network.HasNone() || !spec.ports.empty())
    return base::Err(base::Code::kUnavailable, "the subprocess sandbox keeps no network policy and has no ports");
  os::SweepOwned(scratch_base_, kScratchPrefix);
  const std::string scratch = scratch_base_ + "/" + os::OwnedName(kScratchPrefix);
  if (::mkdir(scratch.c_str(), 0700) < 0) return os::ErrnoErr(scratch);
  core::SandboxSpec own = spec;
  if (spec.workspace == nullptr) {
    auto place = std::make_shared<core::HostPlace>();
    place->path = scratch + "/workspace";
    if (::mkdir(place->path.c_str(), 0700) < 0) return os::ErrnoErr(place->path);
    place->fd.Reset(::open(place->path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (!place->fd.valid()) return os::ErrnoErr(place->path);
    own.workspace = std::move(place);
  }
  // One launcher per sandbox: without namespaces the processes of a sandbox are found as the launcher's descendants.
  using launcher::Launcher;
  const runner::LaunchProfile profile{.launcher = std::make_shared<Launcher>(programs_, std::vector<Launcher::Zygote>(),
                                                                             Launcher::Ahead::kNothing, lifeline_),
                                      .isolation = launcher::Isolation::kNone,
                                      .scratch = scratch,
                                      .directory = own.workspace->path,
                                      .home = scratch,
                                      .temporary = scratch};
  return std::make_unique<SubprocessSandbox>(profile, std::move(own));
}

}  // namespace skerry::backends::subprocess
