// libskerry-zygote: the library that an interpreter on the host loads so that it can be forked into sandboxes. It knows
// nothing of the interpreter but three functions of CPython that must be called around a fork.
//
// A child has the same fence as a process that the sandbox's init starts: same namespaces, user, cgroups, limits,
// capabilities, Landlock, filter. No byte of the program that the child will run has been in the zygote.
#include <dlfcn.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <bit>
#include <cerrno>
#include <cstdio>
#include <span>
#include <vector>

#include "base/unique_fd.hpp"
#include "launcher/fence.hpp"
#include "launcher/fork_order.hpp"
#include "launcher/machine_facts.hpp"
#include "launcher/sandbox_child.hpp"
#include "os/namespace.hpp"
#include "os/privileges.hpp"
#include "os/socket.hpp"

namespace {

using namespace skerry;

constexpr int kChannel = 3;

// CPython has to be told of a fork that it does not make itself.
void TellInterpreter(const char* function) {
  void* found = ::dlsym(RTLD_DEFAULT, function);
  if (found == nullptr) return;
  std::bit_cast<void (*)()>(found)();
}

struct Birth {
  launcher::Fence fence;
  int init = -1;  // the pidfd of the sandbox's first process
  std::array<int, launcher::kForkStreams> streams{};
  std::span<const int> cgroups;
  // Results of the go-between.
  pid_t pid = -1;
  int error = 0;
};

// The launcher's client reads this on the channel and starts the program in another way.
[[noreturn]] void Give(const char* step, int error) {
  std::array<char, 256> text{};
  const int size = std::snprintf(text.data(), text.size(), "failed%c%s%c%d%c", 0, step, 0, error, 0);
  (void)!::write(kChannel, text.data(), static_cast<std::size_t>(size));
  ::_exit(125);
}

void Must(long result, const char* step) {
  if (result < 0) Give(step, errno);
}

// Leaves stdin, stdout, stderr and the channel; nothing else of the zygote is inherited (A07, B02).
void ArrangeStreams(Birth& birth) {
  for (std::size_t at = 0; at < birth.streams.size(); ++at)
    if (::dup2(birth.streams[at], static_cast<int>(at)) < 0) ::_exit(125);
  Must(::fcntl(kChannel, F_SETFD, FD_CLOEXEC), "set up the channel");
}

// Called in the new process. When it returns the fence is up.
void EnterSandbox(Birth& birth) {
  ArrangeStreams(birth);
  // Before any code of the sandbox can run, so that none is ever without limits (F01, F02).
  for (const int fd : birth.cgroups) Must(::write(fd, "0", 1), "join cgroup");
  constexpr int kRest = CLONE_NEWNS | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS | CLONE_NEWCGROUP;
  Must(::setns(birth.init, kRest | static_cast<int>(os::kNewTime)), "enter the namespaces");
  Must(static_cast<long>(::syscall(SYS_close_range, kChannel + 1U, ~0U, 0U)), "close_range");
  Must(::chdir("/"), "enter the root");
  const int become = os::BecomeUser(launcher::kAgentId, launcher::kAgentId, os::Effort::kAsFarAsPossible);
  if (become != 0) Give("become the sandbox's user", become);
  Must(::setsid(), "new session");
  ::umask(022);
  const char* step = "";
  if (const int error = launcher::PutUpFence(birth.fence, step); error != 0) Give(step, error);
  // From here on the child is a program like any other.
  Must(::prctl(PR_SET_DUMPABLE, 1UL), "become an ordinary process");
}

// Runs in the zygote's memory while the zygote waits. The process that it forks has a memory of its own, is the first
// of the zygote's processes in the sandbox's pid namespace, and loses its parent at once, so that the launcher adopts
// it.
bool GoBetween(Birth& birth) {
  (void)os::RaiseParkedCapabilities();
  if (::setns(birth.init, CLONE_NEWUSER | CLONE_NEWPID) < 0) {
    birth.error = errno;
    return false;
  }
  const pid_t pid = ::fork();
  if (pid == 0) return true;
  birth.pid = pid;
  birth.error = errno;
  return false;
}

// True in the child.
[[gnu::noinline]] bool MakeChild(Birth& birth) {
  // vfork, because the go-between copies nothing: only its child does.
  // NOLINTNEXTLINE(clang-analyzer-security.insecureAPI.vfork,bugprone-unsafe-functions)
  const pid_t go_between = ::vfork();
  if (go_between == 0) {
    // NOLINTNEXTLINE(clang-analyzer-unix.Vfork)
    if (GoBetween(birth)) return true;
    ::_exit(0);
  }
  if (go_between < 0) {
    birth.error = errno;
    return false;
  }
  while (::waitpid(go_between, nullptr, 0) < 0 && errno == EINTR) {
  }
  return false;
}

class Server {
 public:
  explicit Server(int socket) : socket_(socket) {
    rules_.assign(launcher::NamespaceRules().begin(), launcher::NamespaceRules().end());
    // A child's own program lies on a mount of the host, where the rule for the root does not hold.
    rules_.push_back({.path = "/usr", .grant = os::LandlockGrant::kReadAndExecute});
  }

  // True in a child, false when the launcher needs the zygote no longer.
  bool Run() {
    if (!os::SendMessage(socket_, launcher::kZygoteReady)) return false;
    for (;;) {
      auto message = os::ReceiveMessage(socket_, base::Deadline::Never());
      if (!message || message->EndOfStream()) return false;
      const auto order = launcher::DecodeForkOrder(message->bytes);
      if (!order || message->fds.size() < launcher::kForkDescriptors) return false;
      if (Serve(*order, message->fds)) {
        // The child has closed these descriptors already; their numbers may belong to other files by now.
        for (base::UniqueFd& fd : message->fds) (void)fd.Release();
        return true;
      }
    }
  }

 private:
  bool Serve(const launcher::ForkOrder& order, std::vector<base::UniqueFd>& fds) {
    Birth birth;
    birth.fence = {launcher::Isolation::kNamespaces, order.limits, order.landlock_abi, rules_,
                   facts_.Filter(order.filter)};
    std::vector<int> cgroups;
    for (std::size_t at = launcher::kForkDescriptors; at < fds.size(); ++at) cgroups.push_back(fds[at].get());
    birth.cgroups = cgroups;
    birth.init = fds[0].get();
    for (std::size_t at = 0; at < birth.streams.size(); ++at) birth.streams[at] = fds[at + 1].get();
    TellInterpreter("PyOS_BeforeFork");
    if (MakeChild(birth)) {
      EnterSandbox(birth);
      TellInterpreter("PyOS_AfterFork_Child");
      return true;
    }
    TellInterpreter("PyOS_AfterFork_Parent");
    launcher::ForkAnswer answer;
    if (birth.pid > 0)
      answer.pid = static_cast<std::uint64_t>(birth.pid);
    else
      answer.error = static_cast<std::uint64_t>(birth.error);
    (void)os::SendMessage(socket_, launcher::Encode(answer));
    return false;
  }

  int socket_;
  launcher::MachineFacts facts_;
  std::vector<os::LandlockRule> rules_;
};

}  // namespace

// Called before anything else is loaded: no other process may look into this one, and its privileges are parked.
extern "C" __attribute__((visibility("default"))) int SkerryPrepareZygote() {
  if (::prctl(PR_SET_DUMPABLE, 0UL) < 0) return errno;
  return os::ParkCapabilities();
}

// Returns 1 in a child, which is in its sandbox then, and 0 in the zygote when the launcher needs it no longer.
extern "C" __attribute__((visibility("default"))) int SkerryServeZygote(int socket) {
  return Server(socket).Run() ? 1 : 0;
}
