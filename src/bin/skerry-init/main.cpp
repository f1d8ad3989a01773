// skerry-init: the first process of a sandbox. Starts commands that arrive on descriptor 3, reaps every process, and
// ends with its client. All restrictions were put on before it was executed, so every process that it starts has them
// too.
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <map>
#include <vector>

#include "base/unique_fd.hpp"
#include "launcher/protocol.hpp"
#include "os/process_tree.hpp"
#include "os/socket.hpp"
#include "os/spawn.hpp"

namespace {

namespace launcher = skerry::launcher;
using skerry::base::Deadline;
using skerry::base::UniqueFd;

constexpr int kControl = 3;
constexpr std::size_t kMostExtras = 2;            // descriptors of a command from 3 on: its text, a channel
constexpr std::chrono::seconds kKillPatience{1};  // for killing a process tree that grows

// In a pid namespace the kernel ends all other processes when this one ends. Without one this process has to do it.
bool HasPidNamespace() {
  return ::getpid() == 1;
}

struct StartFailure {
  int error = 0;
  launcher::StartStep step = launcher::StartStep::kProgram;
};

// Between vfork and exec the child uses the parent's memory: only system calls are allowed, and the error is left in
// variables that both see. When descriptor 0 is a terminal it becomes the controlling terminal of the session.
[[noreturn]] void BecomeCommand(const char* directory, char* const* arguments, char* const* environment,
                                const std::vector<UniqueFd>& fds, volatile StartFailure* failure) {
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::setsid();
  // Without a pid namespace the end of this init does not end the processes that it started.
  if (::getppid() != 1) ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::isatty(fds[0].get()) == 1) (void)::ioctl(fds[0].get(), TIOCSCTTY, 0);
  for (int at = 0; at < static_cast<int>(fds.size()); ++at) {
    if (::dup2(fds[static_cast<std::size_t>(at)].get(), at) < 0) {
      failure->error = errno;
      ::_exit(127);
    }
  }
  if (::chdir(directory) == 0)
    ::execvpe(arguments[0], arguments, environment);
  else
    failure->step = launcher::StartStep::kDirectory;
  failure->error = errno;
  ::_exit(127);
}

// Both ends of a new terminal of the sandbox.
struct Terminal {
  UniqueFd master;
  UniqueFd slave;
};

Terminal OpenTerminal(const launcher::TerminalSize& size) {
  Terminal terminal;
  terminal.master.Reset(::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC));
  int unlock = 0;
  if (!terminal.master.valid() || ::ioctl(terminal.master.get(), TIOCSPTLCK, &unlock) < 0) return {};
  winsize window{};
  window.ws_row = static_cast<unsigned short>(size.rows);
  window.ws_col = static_cast<unsigned short>(size.columns);
  ::ioctl(terminal.master.get(), TIOCSWINSZ, &window);
  terminal.slave.Reset(::ioctl(terminal.master.get(), TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC));
  return terminal;
}

class Init {
 public:
  int Run() {
    sigset_t wanted;
    ::sigemptyset(&wanted);
    ::sigaddset(&wanted, SIGCHLD);
    if (!HasPidNamespace()) ::sigaddset(&wanted, launcher::kEndSignal);
    ::sigprocmask(SIG_BLOCK, &wanted, nullptr);
    const UniqueFd signals(::signalfd(-1, &wanted, SFD_CLOEXEC | SFD_NONBLOCK));
    for (;;) {
      std::array entries = {pollfd{kControl, POLLIN, 0}, pollfd{signals.get(), POLLIN, 0}};
      if (::poll(entries.data(), entries.size(), -1) < 0 && errno != EINTR) return 1;
      if (entries[1].revents != 0 && !ServeSignals(signals.get())) return 0;
      if (entries[0].revents != 0 && !ServeOne()) return 0;
    }
  }

 private:
  bool ServeSignals(int signals) {
    signalfd_siginfo information{};
    while (::read(signals, &information, sizeof information) > 0)
      if (information.ssi_signo == launcher::kEndSignal) return false;
    ReapAll();
    return true;
  }

  bool ServeOne() {
    auto message = skerry::os::ReceiveMessage(kControl, Deadline::Never());
    if (!message || message->EndOfStream()) return false;
    auto request = launcher::DecodeToInit(message->bytes);
    if (!request) return false;
    if (const auto* signal = std::get_if<launcher::CommandSignal>(&*request)) return Signal(*signal);
    if (const auto* tree = std::get_if<launcher::TreeKill>(&*request)) return Kill(*tree);
    auto* command = &std::get<launcher::CommandRequest>(*request);
    const std::size_t streams = command->terminal ? 0 : 3;
    if (message->fds.size() < streams || message->fds.size() > streams + kMostExtras) return false;
    const StartFailure failure = Start(*command, std::move(message->fds));
    if (failure.error != 0)
      Say(launcher::CommandEnded{
          .id = command->id, .start_error = static_cast<std::uint64_t>(failure.error), .failed_step = failure.step});
    return true;
  }

  // A command that has ended already needs no signal.
  bool Signal(const launcher::CommandSignal& request) {
    for (const auto& [pid, id] : commands_)
      if (id == request.id) ::kill(-pid, static_cast<int>(request.signal));
    return true;
  }

  // A command that has ended already needs no kill.
  bool Kill(const launcher::TreeKill& tree) {
    for (const auto& [pid, id] : commands_) {
      if (id != tree.id) continue;
      if (HasPidNamespace())
        skerry::os::KillSessionTree(pid, Deadline::After(kKillPatience));
      else
        Say(launcher::TreeToKill{static_cast<std::uint64_t>(pid)});
      break;
    }
    return true;
  }

  // A client gets its end of the terminal before the command runs.
  StartFailure Start(launcher::CommandRequest& command, std::vector<UniqueFd> fds) {
    if (!command.terminal) return Spawn(command, std::move(fds));
    Terminal terminal = OpenTerminal(*command.terminal);
    if (!terminal.slave.valid()) return {errno != 0 ? errno : EIO};
    const std::array master = {terminal.master.get()};
    if (!skerry::os::SendMessage(kControl, launcher::Encode(launcher::TerminalOpened{command.id}), master))
      return {EIO};
    terminal.master.Reset();
    std::vector<UniqueFd> all;
    all.reserve(3 + kMostExtras);
    for (int i = 0; i < 2; ++i) all.emplace_back(::fcntl(terminal.slave.get(), F_DUPFD_CLOEXEC, 0));
    all.push_back(std::move(terminal.slave));
    for (UniqueFd& text : fds) all.push_back(std::move(text));
    return Spawn(command, std::move(all));
  }

  StartFailure Spawn(launcher::CommandRequest& command, std::vector<UniqueFd> fds) {
    // The descriptors are moved above the places they go to, so that no dup2 closes the source of the next.
    for (UniqueFd& fd : fds) {
      UniqueFd high(::fcntl(fd.get(), F_DUPFD_CLOEXEC, static_cast<int>(fds.size())));
      if (!high.valid()) return {errno};
      fd = std::move(high);
    }
    const std::vector<char*> arguments = skerry::os::Pointers(command.arguments);
    const std::vector<char*> environment = skerry::os::Pointers(command.environment);
    // execvpe looks the program up in PATH of this process's environment.
    for (const std::string& entry : command.environment)
      if (entry.starts_with("PATH=")) ::setenv("PATH", entry.c_str() + 5, 1);
    volatile StartFailure failure;
    // vfork, because it costs the same however much memory this process has; BecomeCommand keeps to its rules.
    // NOLINTNEXTLINE(clang-analyzer-security.insecureAPI.vfork,bugprone-unsafe-functions)
    const pid_t pid = ::vfork();
    // NOLINTNEXTLINE(clang-analyzer-unix.Vfork)
    if (pid == 0) BecomeCommand(command.directory.c_str(), arguments.data(), environment.data(), fds, &failure);
    if (pid < 0) return {errno};
    if (failure.error != 0) return {failure.error, failure.step};  // the child's exit is reaped with the others
    commands_[pid] = command.id;
    return {};
  }

  void ReapAll() {
    for (;;) {
      int status = 0;
      rusage usage{};
      const pid_t pid = ::wait4(-1, &status, WNOHANG, &usage);
      if (pid <= 0) return;
      const auto found = commands_.find(pid);
      if (found == commands_.end()) continue;
      const auto microseconds = [](const timeval& time) {
        return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000U + static_cast<std::uint64_t>(time.tv_usec);
      };
      Say(launcher::CommandEnded{.id = found->second,
                                 .wait_status = static_cast<std::uint64_t>(status),
                                 .user_microseconds = microseconds(usage.ru_utime),
                                 .system_microseconds = microseconds(usage.ru_stime)});
      commands_.erase(found);
    }
  }

  static void Say(const launcher::FromInit& word) { (void)skerry::os::SendMessage(kControl, launcher::Encode(word)); }

  std::map<pid_t, std::uint64_t> commands_;
};

}  // namespace

int main() {
  // No process inside may look into this one or take its descriptors (B13, D05, D06).
  ::prctl(PR_SET_DUMPABLE, 0UL);
  if (!HasPidNamespace()) {
    ::prctl(PR_SET_CHILD_SUBREAPER, 1UL);
    ::prctl(PR_SET_PDEATHSIG, launcher::kEndSignal);
  }
  if (::fcntl(kControl, F_SETFD, FD_CLOEXEC) < 0) return 125;
  if (!skerry::os::SendMessage(kControl, launcher::kInitReady)) return 125;
  const int exit_code = Init().Run();
  if (!HasPidNamespace()) (void)skerry::os::KillAllDescendants(Deadline::After(std::chrono::seconds(5)));
  return exit_code;
}
