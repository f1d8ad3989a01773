// Takes the place of skerry-launcher: becomes the real one, watched by a tracer that makes one of its system calls
// fail.
//
// skerry starts it with an empty environment, so its orders are in the file `plan` beside it, one word per line:
//   1. the real launcher   2. a file for the log
//   3. process: 0 for the launcher, 1 for the first process it makes, …
//   4. number of a system call   5. which of that process's calls of that number, from 1; 0 for none
//   6. `error` or `kill`   7. the errno, or the signal
// The log begins with `launcher` and its pid. A line is `process number count text`, in the order of the calls, and
// `injected` follows the call that was made to fail. A process is not traced any more when it executes another program:
// programs in the sandbox are not watched.
//
// The launcher stays a child of skerry and the tracer is no relative of either, so that signals, descriptors and
// waiting are as they are without it.
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <climits>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <map>
#include <string>
#include <utility>

namespace {

constexpr int kBroken = 99;  // differs from every exit code of the launcher

struct Plan {
  std::string launcher;
  std::string log;
  int process = 0;
  std::uint64_t number = 0;
  std::uint64_t count = 0;
  std::string action;
  int value = 0;
};

Plan ReadPlan() {
  std::array<char, PATH_MAX> self{};
  const ssize_t size = ::readlink("/proc/self/exe", self.data(), self.size());
  const std::string path(self.data(), size > 0 ? static_cast<std::size_t>(size) : 0);
  std::ifstream file(path.substr(0, path.find_last_of('/') + 1) + "plan");
  Plan plan;
  if (!(file >> plan.launcher >> plan.log >> plan.process >> plan.number >> plan.count >> plan.action >> plan.value))
    ::_exit(kBroken);
  return plan;
}

// The name that a call is about, for people who read the log: the first argument that points to printable text.
std::string TextArgument(pid_t pid, const __ptrace_syscall_info& call) {
  for (const std::uint64_t address : {call.entry.args[0], call.entry.args[1], call.entry.args[2]}) {
    if (address < 4096) continue;
    std::array<char, 200> bytes{};
    const iovec local{bytes.data(), std::min<std::size_t>(bytes.size() - 1, 4096 - address % 4096)};
    // NOLINTNEXTLINE(performance-no-int-to-ptr): an address in the other process
    const iovec remote{reinterpret_cast<void*>(address), local.iov_len};
    if (::process_vm_readv(pid, &local, 1, &remote, 1, 0) <= 0) continue;
    const std::string text(bytes.data());
    const auto printable = [](char c) { return std::isgraph(static_cast<unsigned char>(c)) != 0; };
    if (text.size() > 1 && std::ranges::all_of(text, printable)) return text;
  }
  return "-";
}

class Tracer {
 public:
  explicit Tracer(Plan plan) : plan_(std::move(plan)), log_(plan_.log) {}

  // Attaches to a process that waits for that, then tells it to go on.
  void Attach(pid_t pid, int go) {
    constexpr unsigned long kOptions = PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK |
                                       PTRACE_O_TRACECLONE | PTRACE_O_TRACEEXEC | PTRACE_O_EXITKILL;
    int status = 0;
    if (::ptrace(PTRACE_SEIZE, pid, 0, kOptions) < 0 || ::ptrace(PTRACE_INTERRUPT, pid, 0, 0) < 0 ||
        ::waitpid(pid, &status, __WALL) != pid || ::write(go, "!", 1) != 1)
      ::_exit(kBroken);
    ::close(go);
    log_ << "launcher " << pid << '\n' << std::flush;
    processes_[pid];
    Resume(pid, 0);
  }

  void Run() {
    int status = 0;
    for (pid_t pid = 0; !processes_.empty() && (pid = ::waitpid(-1, &status, __WALL)) > 0;) {
      if (WIFSTOPPED(status)) {
        Stopped(pid, status);
      } else {
        processes_.erase(pid);
      }
    }
  }

 private:
  struct Process {
    int role = 0;
    bool fail_this_call = false;
    std::map<std::uint64_t, std::uint64_t> counts;
  };

  static void Resume(pid_t pid, int signal) { ::ptrace(PTRACE_SYSCALL, pid, 0, signal); }

  void Stopped(pid_t pid, int status) {
    if (!processes_.contains(pid)) processes_[pid].role = next_role_++;
    const int signal = WSTOPSIG(status);
    const int event = status >> 16;
    if (signal == (SIGTRAP | 0x80)) {
      SystemCall(pid, processes_[pid]);
    } else if (event == PTRACE_EVENT_EXEC && std::exchange(in_launcher_, true)) {
      processes_.erase(pid);
      ::ptrace(PTRACE_DETACH, pid, 0, 0);
      return;
    }
    Resume(pid, event != 0 || signal == (SIGTRAP | 0x80) ? 0 : signal);
  }

  void SystemCall(pid_t pid, Process& process) {
    __ptrace_syscall_info call{};
    if (!in_launcher_ || ::ptrace(PTRACE_GET_SYSCALL_INFO, pid, sizeof call, &call) <= 0) return;
    if (call.op == PTRACE_SYSCALL_INFO_EXIT && std::exchange(process.fail_this_call, false)) {
      SetRegister(pid, &user_regs_struct::rax, static_cast<std::uint64_t>(-plan_.value));
    }
    if (call.op != PTRACE_SYSCALL_INFO_ENTRY) return;
    const std::uint64_t count = ++process.counts[call.entry.nr];
    log_ << process.role << ' ' << call.entry.nr << ' ' << count << ' ' << TextArgument(pid, call) << '\n'
         << std::flush;
    if (process.role == plan_.process && call.entry.nr == plan_.number && count == plan_.count) Inject(pid, process);
  }

  void Inject(pid_t pid, Process& process) {
    log_ << "injected" << '\n' << std::flush;
    if (plan_.action == "kill") {
      ::kill(pid, plan_.value);
      return;
    }
    process.fail_this_call = true;
    if (plan_.number == SYS_close) return;  // whatever close returns, the descriptor is closed
    // Replaces the call by one that does nothing and that the sandbox's own filter allows.
    SetRegister(pid, &user_regs_struct::orig_rax, SYS_getpid);
  }

  template <class Register>
  static void SetRegister(pid_t pid, Register user_regs_struct::* which, std::uint64_t value) {
    user_regs_struct registers{};
    ::ptrace(PTRACE_GETREGS, pid, 0, &registers);
    registers.*which = value;
    ::ptrace(PTRACE_SETREGS, pid, 0, &registers);
  }

  Plan plan_;
  std::ofstream log_;
  std::map<pid_t, Process> processes_;
  int next_role_ = 1;
  bool in_launcher_ = false;
};

// Does not return. Closes all descriptors of the launcher: its client would wait for their end.
[[noreturn]] void Trace(const Plan& plan, pid_t launcher, int go) {
  ::prctl(PR_SET_NAME, "tracer");
  ::dup2(go, 3);
  ::syscall(SYS_close_range, 4U, ~0U, 0U);
  Tracer tracer(plan);
  tracer.Attach(launcher, 3);
  tracer.Run();
  std::_Exit(0);
}

}  // namespace

int main() {
  const Plan plan = ReadPlan();
  std::array<int, 2> go{};
  if (::pipe2(go.data(), O_CLOEXEC) < 0) return kBroken;
  ::prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY);  // for machines where only parents may trace
  const pid_t self = ::getpid();
  // Forks twice, so that the tracer is no child of the launcher.
  const pid_t middle = ::fork();
  if (middle == 0) {
    if (::fork() == 0) Trace(plan, self, go[1]);
    ::_exit(0);
  }
  ::waitpid(middle, nullptr, 0);
  ::close(go[1]);
  char byte = 0;
  if (::read(go[0], &byte, 1) != 1) return kBroken;
  const std::array<const char*, 2> arguments = {"skerry-launcher", nullptr};
  const std::array<char*, 1> environment = {nullptr};
  ::execve(plan.launcher.c_str(), const_cast<char* const*>(arguments.data()), environment.data());
  return kBroken;
}
