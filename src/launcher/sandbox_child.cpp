#include "launcher/sandbox_child.hpp"

#include <fcntl.h>
#include <linux/keyctl.h>
#include <net/if.h>
#include <sched.h>
#include <signal.h>
#include <string.h>  // NOLINT(modernize-deprecated-headers): strnlen
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "os/seccomp.hpp"

namespace skerry::launcher {
namespace {

constexpr int kControlFd = 3;

[[noreturn]] void Fail(const ChildPlan& plan, int error, const char* step, const char* detail = "") {
  SetupFailure failure;
  failure.error = error;
  std::size_t at = 0;
  for (const char* part : {step, detail}) {
    const std::size_t room = failure.step.size() - 1 - at;
    const std::size_t size = std::min(::strnlen(part, room), room);
    std::memcpy(failure.step.data() + at, part, size);
    at += size;
  }
  // If even this cannot be said, the launcher sees the socket close and the exit code.
  (void)::send(plan.report, &failure, sizeof failure, MSG_NOSIGNAL);
  ::_exit(125);
}

void Check(const ChildPlan& plan, int error, const char* step, const char* detail = "") {
  if (error != 0) Fail(plan, error, step, detail);
}

int Outcome(long result) {
  return result < 0 ? errno : 0;
}

void JoinCgroups(const ChildPlan& plan) {
  for (const int fd : plan.join_cgroups) Check(plan, Outcome(::write(fd, "0", 1)), "join cgroup");
  // Only now, so that the group we joined is the root of what the sandbox can see (B14).
  if (plan.isolation == Isolation::kNamespaces)
    Check(plan, Outcome(::unshare(CLONE_NEWCGROUP)), "new cgroup namespace");
}

int WriteFile(const char* path, const std::string& bytes) {
  const int fd = ::open(path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0644);
  if (fd < 0) return errno;
  const int error = ::write(fd, bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()) ? 0 : EIO;
  ::close(fd);
  return error;
}

int WriteSetting(const char* path, const std::string& value) {
  const int fd = ::open(path, O_WRONLY | O_CLOEXEC);
  if (fd < 0) return errno == ENOENT ? 0 : errno;
  const int error = Outcome(::write(fd, value.data(), value.size()));
  ::close(fd);
  return error;
}

int BindStep(const MountStep& step) {
  struct stat facts{};
  if (::stat(step.source.c_str(), &facts) < 0) return errno == ENOENT && step.missing == Missing::kSkip ? 0 : errno;
  const int made = S_ISDIR(facts.st_mode) ? Outcome(::mkdir(step.target.c_str(), 0755))
                                          : Outcome(::mknod(step.target.c_str(), S_IFREG | 0644, 0));
  if (made != 0) return made;
  return os::BindMount(AT_FDCWD, step.source.c_str(), step.target.c_str(), step.options);
}

int WorkspaceStep(const ChildPlan& plan, int workspace_fd, const char* target) {
  if (plan.workspace_tree >= 0)
    return Outcome(::move_mount(plan.workspace_tree, "", AT_FDCWD, target, MOVE_MOUNT_F_EMPTY_PATH));
  return os::BindMount(workspace_fd, "", target, {.access = os::Access::kReadWrite});
}

int MountProcess(const char* target) {
  return Outcome(::mount("proc", target, "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, "hidepid=invisible"));
}

int MountTerminals(const char* target) {
  return Outcome(
      ::mount("devpts", target, "devpts", MS_NOSUID | MS_NOEXEC, "newinstance,ptmxmode=0666,mode=0620,max=64"));
}

int CarryOut(const ChildPlan& plan, const MountStep& step, int workspace_fd) {
  const char* target = step.target.c_str();
  switch (step.kind) {
    case StepKind::kDirectory:
      return Outcome(::mkdir(target, 0755));
    case StepKind::kFile:
      return WriteFile(target, step.data);
    case StepKind::kLink:
      return Outcome(::symlink(step.source.c_str(), target));
    case StepKind::kBind:
      return BindStep(step);
    case StepKind::kTmpfs:
      return os::MountTmpfs(target, step.data.c_str(), step.options.execute);
    case StepKind::kProcess:
      return MountProcess(target);
    case StepKind::kTerminals:
      return MountTerminals(target);
    case StepKind::kSetting:
      return WriteSetting(target, step.data);
    case StepKind::kMask:
      return os::MaskPath(target);
    case StepKind::kReadOnly:
      return os::MakeReadOnly(target);
    case StepKind::kWorkspace:
      return WorkspaceStep(plan, workspace_fd, target);
  }
  return EINVAL;
}

// A plain user's launcher cannot prepare the mount, so the path is opened again here. Between the two somebody may have
// put another directory or a link in its place: then it is not the one that was asked for.
int OpenWorkspace(const ChildPlan& plan) {
  if (plan.workspace_tree >= 0) return -1;
  const int fd = ::open(plan.workspace_path, O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) Fail(plan, errno, "open workspace ", plan.workspace_path);
  struct stat facts{};
  Check(plan, Outcome(::fstat(fd, &facts)), "look at workspace");
  if (facts.st_dev != plan.workspace_device || facts.st_ino != plan.workspace_inode)
    Fail(plan, ESTALE, "workspace was replaced: ", plan.workspace_path);
  return fd;
}

void BuildRoot(const ChildPlan& plan) {
  Check(plan, os::MakeMountsPrivate(), "make mounts private");
  const int workspace_fd = OpenWorkspace(plan);
  Check(plan, os::MountTmpfs(plan.root_mount_point, "mode=755,size=1m,nr_inodes=512", os::Execute::kAllowed),
        "mount an empty root on ", plan.root_mount_point);
  Check(plan, Outcome(::chdir(plan.root_mount_point)), "enter the new root");
  for (const MountStep& step : plan.mounts)
    Check(plan, CarryOut(plan, step, workspace_fd), "set up /", step.target.c_str());
  // After this nothing of the host can be named (A02, C02, C10).
  Check(plan, os::PivotToCurrentDirectory(), "pivot_root");
  Check(plan, Outcome(::mount(nullptr, "/", nullptr, MS_REMOUNT | MS_BIND | MS_RDONLY | MS_NOSUID | MS_NODEV, nullptr)),
        "make the root read-only");
}

// Its own loopback, so that programs can talk to themselves and to nobody else (H01).
int RaiseLoopback() {
  const int fd = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return errno;
  ifreq request{};
  std::memcpy(request.ifr_name, "lo", 3);
  request.ifr_flags = IFF_UP | IFF_RUNNING;
  const int error = Outcome(::ioctl(fd, SIOCSIFFLAGS, &request));
  ::close(fd);
  return error;
}

void SetUpNamespaces(const ChildPlan& plan) {
  BuildRoot(plan);
  Check(plan, RaiseLoopback(), "bring loopback up");
  Check(plan, Outcome(::sethostname("skerry", 6)), "set host name");
}

// Standard descriptors go to /dev/null, 3 is the control socket, and everything else is closed on exec: nothing of the
// launcher is inherited (A07, B02).
void ArrangeDescriptors(const ChildPlan& plan) {
  const int null = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  if (null < 0) Fail(plan, errno, "open /dev/null");
  for (int fd = 0; fd < 3; ++fd) Check(plan, Outcome(::dup2(null, fd)), "redirect to /dev/null");
  Check(plan, Outcome(::dup2(plan.control, kControlFd)), "place control socket");
  Check(plan, Outcome(::syscall(SYS_close_range, kControlFd + 1U, ~0U, 4U /* CLOSE_RANGE_CLOEXEC */)), "close_range");
}

void Restrict(const ChildPlan& plan) {
  Check(plan, os::ApplyProcessLimits(plan.limits), "set process limits");
  // A session keyring of its own (E03); where keys are refused altogether there is nothing to leave.
  ::syscall(SYS_keyctl, KEYCTL_JOIN_SESSION_KEYRING, nullptr);
  Check(plan, os::DropAllCapabilities(), "drop capabilities");
  Check(plan, os::SetNoNewPrivileges(), "set no_new_privs");
  const auto network = plan.isolation == Isolation::kNone ? os::LandlockNetwork::kNoTcp : os::LandlockNetwork::kAnyTcp;
  Check(plan, os::ApplyLandlock(plan.landlock_abi, plan.landlock_rules, network), "apply Landlock");
  Check(plan, os::InstallFilter(plan.filter), "install seccomp filter");
}

void BecomeInit(const ChildPlan& plan) {
  char name[] = "skerry-init";
  char* const arguments[] = {name, nullptr};
  char* const environment[] = {nullptr};
  ::syscall(SYS_execveat, plan.init, "", arguments, environment, AT_EMPTY_PATH);
  Fail(plan, errno, "start skerry-init");
}

}  // namespace

void RunSandboxChild(const ChildPlan& plan) {
  char go = 0;
  // The launcher writes one byte when the id maps stand; its death closes the socket.
  if (::recv(plan.report, &go, 1, 0) != 1) ::_exit(125);
  // The control and report sockets may sit at 0..3: move them out of the way of what is arranged later.
  ChildPlan moved = plan;
  for (int* fd : {&moved.report, &moved.control, &moved.init}) {
    *fd = ::fcntl(*fd, F_DUPFD_CLOEXEC, 10);
    if (*fd < 0) ::_exit(125);
  }
  JoinCgroups(moved);
  Check(moved, os::BecomeUser(moved.user, moved.group), "become the sandbox's user");
  // After the change of user, which would clear it: when the launcher dies, so does the sandbox (J25).
  Check(moved, Outcome(::prctl(PR_SET_PDEATHSIG, SIGKILL)), "bind life to the launcher");
  Check(moved, Outcome(::setsid()), "new session");
  ::umask(022);
  if (moved.isolation == Isolation::kNamespaces) SetUpNamespaces(moved);
  ArrangeDescriptors(moved);
  Restrict(moved);
  BecomeInit(moved);
  ::_exit(125);
}

}  // namespace skerry::launcher
