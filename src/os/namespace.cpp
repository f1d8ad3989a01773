#include "os/namespace.hpp"

#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "os/errno_error.hpp"
#include "os/files.hpp"

namespace skerry::os {
namespace {

std::string Line(IdMapping mapping) {
  return std::to_string(mapping.inside) + " " + std::to_string(mapping.outside) + " 1\n";
}

clone_args ArgumentsFor(std::uint64_t flags, int cgroup_fd, int& pidfd) {
  clone_args arguments{};
  arguments.flags = flags | CLONE_PIDFD;
  arguments.pidfd = reinterpret_cast<std::uintptr_t>(&pidfd);
  if (cgroup_fd >= 0) {
    arguments.flags |= CLONE_INTO_CGROUP;
    arguments.cgroup = static_cast<std::uint64_t>(cgroup_fd);
  }
  return arguments;
}

// Shared by the caller and its go-between.
struct Errand {
  int mount_namespace = -1;
  std::uint64_t flags = 0;
  int cgroup_fd = -1;
  void (*child)(void*) = nullptr;
  void* argument = nullptr;
  long pid = -1;
  int pidfd = -1;
  int error = 0;
};

// Runs on a stack of its own in the caller's memory, with the caller's descriptors, while the caller waits. The process
// that it makes is the caller's child, with its own memory.
int GoBetween(void* opaque) {
  auto& errand = *static_cast<Errand*>(opaque);
  if (::setns(errand.mount_namespace, CLONE_NEWNS) == 0) {
    clone_args arguments = ArgumentsFor(errand.flags | CLONE_PARENT, errand.cgroup_fd, errand.pidfd);
    errand.pid = ::syscall(SYS_clone3, &arguments, sizeof arguments);
    if (errand.pid == 0) errand.child(errand.argument);
  }
  errand.error = errno;
  return 0;
}

}  // namespace

base::Result<PidFd> CloneFrom(int mount_namespace, std::uint64_t namespace_flags, int cgroup_fd, void (*child)(void*),
                              void* argument) {
  alignas(16) static std::array<char, 128U << 10U> stack;
  Errand errand{mount_namespace, namespace_flags, cgroup_fd, child, argument};
  const int go_between =
      ::clone(GoBetween, stack.data() + stack.size(), CLONE_VM | CLONE_VFORK | CLONE_FILES | SIGCHLD, &errand);
  if (go_between < 0) return ErrnoErr("clone");
  while (::waitpid(go_between, nullptr, 0) < 0 && errno == EINTR) {
  }
  if (errand.pid < 0) return ErrnoErr("clone3", errand.error);
  return PidFd(base::UniqueFd(errand.pidfd), static_cast<pid_t>(errand.pid));
}

base::Result<Cloned> CloneInto(std::uint64_t namespace_flags, int cgroup_fd) {
  int pidfd = -1;
  clone_args arguments = ArgumentsFor(namespace_flags, cgroup_fd, pidfd);
  arguments.exit_signal = SIGCHLD;
  const long pid = ::syscall(SYS_clone3, &arguments, sizeof arguments);
  if (pid < 0) return ErrnoErr("clone3");
  if (pid == 0) return Cloned{.child = true, .process = {}};
  return Cloned{.child = false, .process = PidFd(base::UniqueFd(pidfd), static_cast<pid_t>(pid))};
}

base::Status WriteIdMaps(pid_t pid, IdMapping user, IdMapping group, Setgroups setgroups) {
  if (user.outside == 0 || group.outside == 0)
    return base::Err(base::Code::kInternal, "refusing to map host id 0 into a sandbox");
  const std::string directory = "/proc/" + std::to_string(pid);
  if (setgroups == Setgroups::kDeny) SKERRY_RETURN_IF_ERROR(WriteControlFile(directory + "/setgroups", "deny"));
  SKERRY_RETURN_IF_ERROR(WriteControlFile(directory + "/uid_map", Line(user)));
  SKERRY_RETURN_IF_ERROR(WriteControlFile(directory + "/gid_map", Line(group)));
  // Any process inside could write this file, once: so it is written here. It maps the project id that owns nothing.
  return WriteControlFile(directory + "/projid_map", "65534 65534 1\n");
}

}  // namespace skerry::os
