#include "backends/subprocess/subprocess_backend.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include "base/ids.hpp"
#include "os/errno_error.hpp"
#include "os/landlock.hpp"
#include "os/remove_tree.hpp"
#include "runner/launched_sandbox.hpp"

namespace skerry::backends::subprocess {
namespace {

class SubprocessSandbox : public runner::LaunchedSandbox {
 public:
  SubprocessSandbox(const runner::LaunchProfile& profile, core::SandboxSpec spec)
      : LaunchedSandbox(profile, std::move(spec)), scratch_(profile.scratch) {}
  ~SubprocessSandbox() override {
    (void)LaunchedSandbox::Stop();  // before its files go
    (void)os::RemoveTree(scratch_);
  }

 private:
  std::string scratch_;
};

}  // namespace

core::Availability SubprocessBackend::Probe() const {
  if (::access(programs_.launcher.c_str(), X_OK) < 0) return {false, "missing program " + programs_.launcher};
  if (os::LandlockAbi() == 0) return {true, "permissive mode only; no Landlock in this kernel: files are not fenced"};
  return {true, "permissive mode only; Landlock around the workspace, seccomp, limits, no namespaces"};
}

base::Result<std::unique_ptr<core::Sandbox>> SubprocessBackend::Create(const core::SandboxSpec& spec) {
  const std::string scratch = scratch_base_ + "/" + base::RandomId("skerry-scratch-");
  if (::mkdir(scratch.c_str(), 0700) < 0) return os::ErrnoErr(scratch);
  core::SandboxSpec own = spec;
  // Root's programs run as another user, who cannot reach a workspace below root's home: theirs is in the scratch
  // directory then.
  if (::geteuid() == 0 && spec.workspace_owner == core::WorkspaceOwner::kSkerry) {
    own.workspace = scratch + "/workspace";
    own.workspace_fd = -1;
    if (::mkdir(own.workspace.c_str(), 0700) < 0) return os::ErrnoErr(own.workspace);
  }
  const runner::LaunchProfile profile{.programs = programs_,
                                      .isolation = launcher::Isolation::kNone,
                                      .scratch = scratch,
                                      .directory = own.workspace,
                                      .home = scratch,
                                      .temporary = scratch};
  return std::make_unique<SubprocessSandbox>(profile, std::move(own));
}

}  // namespace skerry::backends::subprocess
