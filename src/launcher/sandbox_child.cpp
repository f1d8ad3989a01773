#include "launcher/sandbox_child.hpp"

#include <fcntl.h>
#include <net/if.h>
#include <sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "launcher/child_report.hpp"
#include "launcher/furnishing.hpp"
#include "launcher/root_builder.hpp"
#include "os/socket_memory.hpp"

namespace skerry::launcher {
namespace {

constexpr int kControlFd = 3;

// Before any program of the sandbox runs, so that none is ever without limits (F01, F02).
void JoinCgroups(const ChildPlan& plan) {
  for (const int fd : plan.join_cgroups) Check(plan, Outcome(::write(fd, "0", 1)), "join cgroup");
  // Only now, so that this group is the root of the cgroups that the sandbox sees (B14).
  if (plan.isolation == Isolation::kNamespaces)
    Check(plan, Outcome(::unshare(CLONE_NEWCGROUP)), "new cgroup namespace");
}

// The sandbox's own loopback, so that programs can talk to each other inside and to nobody outside (H01).
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

void SetUpNamespaces(const ChildPlan& plan, Site& site) {
  BuildFixedRoot(plan, site);
  Check(plan, RaiseLoopback(), "bring loopback up");
  // Programs must not see the host's name.
  Check(plan, Outcome(::sethostname("skerry", 6)), "set host name");
  // Held by the launcher, so that the last process need not take all mounts down before its end is known.
  const std::array mounts = {::open("/proc/self/ns/mnt", O_RDONLY | O_CLOEXEC)};
  Check(plan, Outcome(mounts[0]), "open the mount namespace");
  Check(plan, HandOut(plan.report, Handout::kMountNamespace, mounts), "hand out the mount namespace");
  if (!plan.hand_out_diagnosis) return;
  const std::array diagnosis = {os::OpenSocketDiagnosis(), os::OpenSocketCount()};
  for (const int fd : diagnosis) Check(plan, Outcome(fd), "open socket diagnosis");
  Check(plan, HandOut(plan.report, Handout::kSocketDiagnosis, diagnosis), "hand out socket diagnosis");
}

// Closes all descriptors from `first` on except `kept`, which is sorted.
int CloseAllBut(unsigned first, std::span<const int> kept) {
  for (const int fd : kept) {
    const auto keep = static_cast<unsigned>(fd);
    if (keep < first) continue;
    if (keep > first && ::syscall(SYS_close_range, first, keep - 1, 0U) < 0) return errno;
    first = keep + 1;
  }
  return Outcome(::syscall(SYS_close_range, first, ~0U, 0U));
}

// Standard descriptors become /dev/null, 3 is the control socket. Of the others only those stay until exec that are
// still needed: no descriptor of the launcher, which has many, is inherited (A07, B02), and the limit on open files
// leaves room.
void ArrangeDescriptors(const ChildPlan& plan) {
  const int null = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  if (null < 0) Fail(plan, errno, "open /dev/null");
  for (int fd = 0; fd < 3; ++fd) Check(plan, Outcome(::dup2(null, fd)), "redirect to /dev/null");
  Check(plan, Outcome(::dup2(plan.control, kControlFd)), "place control socket");
  std::array<int, kMaxTrees> kept = {plan.report, plan.init};
  std::size_t count = 2;
  for (const os::LandlockRule& rule : plan.fence.landlock_rules)
    if (rule.fd >= 0 && count < kept.size()) kept[count++] = rule.fd;
  std::sort(kept.begin(), kept.begin() + static_cast<std::ptrdiff_t>(count));
  Check(plan, CloseAllBut(kControlFd + 1U, std::span(kept).first(count)), "close_range");
  Check(plan, Outcome(::syscall(SYS_close_range, kControlFd + 1U, ~0U, 4U /* CLOSE_RANGE_CLOEXEC */)), "close_range");
}

void Restrict(const ChildPlan& plan) {
  const char* step = "";
  const int error = PutUpFence(plan.fence, step);
  Check(plan, error, step);
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
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  for (const int fd : plan.launchers_ends) ::close(fd);
  char go = 0;
  // The launcher writes one byte when the id maps stand; its death closes the socket.
  const ssize_t received = ::recv(plan.report, &go, 1, 0);
  if (received != 1) Fail(plan, received < 0 ? errno : EPIPE, "wait for the launcher");
  // The control and report sockets may be at 0..3: they are moved out of the way of the descriptors that are arranged
  // later.
  ChildPlan moved = plan;
  for (int* fd : {&moved.report, &moved.control, &moved.init}) {
    *fd = ::fcntl(*fd, F_DUPFD_CLOEXEC, 10);
    if (*fd < 0) Fail(plan, errno, "move descriptors");
  }
  JoinCgroups(moved);
  // A vacancy will wait for long, and must not keep files of others open.
  if (moved.vacant != nullptr) {
    std::array kept = {moved.report, moved.control, moved.init};
    std::ranges::sort(kept);
    Check(moved, CloseAllBut(kControlFd, kept), "close_range");
  }
  // A user id that no other program on the host has, never root (F-1, P03); it has rights in its own user namespace
  // only. Without namespaces the bounding set can only be emptied as root.
  if (moved.isolation == Isolation::kNone)
    Check(moved, os::EmptyBoundingSet(moved.effort_as_root), "empty the bounding set");
  Check(moved, os::BecomeUser(moved.user, moved.group, moved.effort_as_root), "become the sandbox's user");
  // After the change of user, which would clear it: when the launcher dies, the sandbox dies too (J25).
  Check(moved, Outcome(::prctl(PR_SET_PDEATHSIG, SIGKILL)), "bind life to the launcher");
  // A new session, so that no program can type into the caller's terminal (E32).
  Check(moved, Outcome(::setsid()), "new session");
  ::umask(022);
  if (moved.isolation == Isolation::kNamespaces) {
    Site site;
    SetUpNamespaces(moved, site);
    if (moved.vacant != nullptr) AwaitFurnishing(moved);
    BuildOwnRoot(moved, site);
  }
  ArrangeDescriptors(moved);
  Restrict(moved);
  BecomeInit(moved);
  ::_exit(125);
}

}  // namespace skerry::launcher
