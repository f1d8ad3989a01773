#include "backends/subprocess/subprocess_backend.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "os/directory.hpp"
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
    (void)LaunchedSandbox::Stop();  // before its files go
    (void)os::RemoveTree(scratch_);
  }

 private:
  std::string scratch_;
};

constexpr char kScratchPrefix[] = "skerry-scratch-";

// What sandboxes of a Skerry that was killed left. Only directories of our own, whose names say that their maker is
// dead.
void SweepScratch(const std::string& base) {
  const os::Directory directory(::opendir(base.c_str()));
  if (directory == nullptr) return;
  const int fd = ::dirfd(directory.get());
  while (const dirent* entry = ::readdir(directory.get())) {
    if (os::StateOfOwner(entry->d_name, kScratchPrefix) != os::OwnerState::kDead) continue;
    struct stat facts{};
    const bool directory_there =
        ::fstatat(fd, entry->d_name, &facts, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(facts.st_mode);
    if (directory_there && (facts.st_uid == ::geteuid() || ::geteuid() == 0)) (void)os::RemoveTree(fd, entry->d_name);
  }
}

}  // namespace

core::Availability SubprocessBackend::Probe() const {
  if (::access(programs_.launcher.c_str(), X_OK) < 0) return {false, "missing program " + programs_.launcher};
  if (os::LandlockAbi() == 0) return {true, "permissive mode only; no Landlock in this kernel: files are not fenced"};
  return {true, "permissive mode only; Landlock around the workspace, seccomp, limits, no namespaces"};
}

base::Result<std::unique_ptr<core::Sandbox>> SubprocessBackend::Create(const core::SandboxSpec& spec) {
  if (!spec.binds.empty() || !spec.hidden.empty() || spec.root)
    return base::Err(
        base::Code::kUnavailable,
        "the subprocess sandbox has no mounts of its own: no images, no binds, no filesystem.denyRead; use "
        "the native one");
  SweepScratch(scratch_base_);
  const std::string scratch = scratch_base_ + "/" + os::OwnedName(kScratchPrefix);
  if (::mkdir(scratch.c_str(), 0700) < 0) return os::ErrnoErr(scratch);
  core::SandboxSpec own = spec;
  if (spec.workspace.empty()) {
    own.workspace = scratch + "/workspace";
    own.workspace_fd = -1;
    if (::mkdir(own.workspace.c_str(), 0700) < 0) return os::ErrnoErr(own.workspace);
  }
  // A launcher for each: without namespaces a sandbox's processes are found as the launcher's descendants.
  const runner::LaunchProfile profile{.launcher = std::make_shared<launcher::Launcher>(programs_),
                                      .isolation = launcher::Isolation::kNone,
                                      .scratch = scratch,
                                      .directory = own.workspace,
                                      .home = scratch,
                                      .temporary = scratch};
  return std::make_unique<SubprocessSandbox>(profile, std::move(own));
}

}  // namespace skerry::backends::subprocess
