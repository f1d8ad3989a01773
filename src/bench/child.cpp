#include "bench/child.hpp"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <utility>

#include "base/printable.hpp"
#include "os/errno_error.hpp"
#include "os/files.hpp"
#include "os/pipe.hpp"

namespace skerry::bench {
namespace {

constexpr std::size_t kMaxOutput = 1U << 20U;

std::vector<char*> Pointers(const std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  pointers.reserve(texts.size() + 1);
  for (const std::string& text : texts) pointers.push_back(const_cast<char*>(text.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

// posix_spawn(3) with the three standard descriptors replaced and no signal blocked or ignored.
class SpawnPlan {
 public:
  SpawnPlan(int input, int output, int errors) {
    ::posix_spawn_file_actions_init(&actions_);
    ::posix_spawnattr_init(&attributes_);
    if (input < 0)
      ::posix_spawn_file_actions_addopen(&actions_, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    else
      ::posix_spawn_file_actions_adddup2(&actions_, input, STDIN_FILENO);
    ::posix_spawn_file_actions_adddup2(&actions_, output, STDOUT_FILENO);
    ::posix_spawn_file_actions_adddup2(&actions_, errors, STDERR_FILENO);
    sigset_t none;
    sigset_t all;
    ::sigemptyset(&none);
    ::sigfillset(&all);
    ::posix_spawnattr_setsigmask(&attributes_, &none);
    ::posix_spawnattr_setsigdefault(&attributes_, &all);
    ::posix_spawnattr_setpgroup(&attributes_, 0);
    ::posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
  }
  SpawnPlan(const SpawnPlan&) = delete;
  SpawnPlan& operator=(const SpawnPlan&) = delete;
  ~SpawnPlan() {
    ::posix_spawnattr_destroy(&attributes_);
    ::posix_spawn_file_actions_destroy(&actions_);
  }

  [[nodiscard]] base::Result<pid_t> Run(const Command& command) const {
    const std::vector<char*> arguments = Pointers(command.arguments);
    const std::vector<char*> environment = Pointers(command.environment);
    pid_t pid = -1;
    const int error = ::posix_spawn(&pid, arguments[0], &actions_, &attributes_, arguments.data(), environment.data());
    if (error != 0) return os::ErrnoErr("start " + command.arguments[0], error);
    return pid;
  }

 private:
  posix_spawn_file_actions_t actions_{};
  posix_spawnattr_t attributes_{};
};

}  // namespace

base::Result<Child> Child::Spawn(const Command& command, Input input) {
  if (command.arguments.empty()) return base::Err(base::Code::kInvalidArgument, "a command without a program");
  std::array<int, 2> ends = {-1, -1};
  if (input == Input::kPipe && ::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) < 0)
    return os::ErrnoErr("socketpair");
  const base::UniqueFd its_input(ends[0]);
  base::UniqueFd our_end(ends[1]);
  SKERRY_ASSIGN_OR_RETURN(os::Pipe out, os::Pipe::Create());
  base::UniqueFd errors(::memfd_create("stderr", MFD_CLOEXEC));
  if (!errors.valid()) return os::ErrnoErr("memfd_create");
  const SpawnPlan plan(its_input.get(), out.write_end.get(), errors.get());
  SKERRY_ASSIGN_OR_RETURN(const pid_t pid, plan.Run(command));
  auto process = os::PidFd::Open(pid);
  if (!process) {
    ::kill(-pid, SIGKILL);
    ::waitpid(pid, nullptr, 0);
    return std::unexpected(std::move(process).error());
  }
  return Child(std::move(*process), std::move(our_end), std::move(out.read_end), std::move(errors));
}

Child::~Child() {
  if (!process_.valid()) return;
  ::kill(-process_.pid(), SIGKILL);  // not reaped yet, so the number cannot be anybody else's
  (void)process_.Reap();
}

base::Status Child::Write(std::string_view bytes) const {
  // A socket, not a pipe: a program that is gone must not end this one by SIGPIPE.
  const ssize_t count = ::send(input_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
  if (count != static_cast<ssize_t>(bytes.size())) return os::ErrnoErr("write to the program");
  return {};
}

base::Result<bool> Child::ReadMore(base::Deadline deadline) {
  std::array<char, 4096> buffer{};
  for (;;) {
    pollfd entry{output_.get(), POLLIN, 0};
    const int ready = ::poll(&entry, 1, deadline.PollTimeoutMs());
    if (ready == 0 && deadline.Expired()) return base::Err(base::Code::kTimeout, "no end within the time allowed");
    if (ready <= 0) continue;
    const ssize_t count = ::read(output_.get(), buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return os::ErrnoErr("read output");
    read_.append(buffer.data(), static_cast<std::size_t>(count));
    if (read_.size() > kMaxOutput) return base::Err(base::Code::kTooLarge, "printed more than 1 MiB");
    return count > 0;
  }
}

base::Result<std::string> Child::ReadLine(base::Deadline deadline) {
  std::size_t end = read_.find('\n');
  while (end == std::string::npos) {
    SKERRY_ASSIGN_OR_RETURN(const bool more, ReadMore(deadline));
    if (!more) {
      SKERRY_RETURN_IF_ERROR(Finish(deadline));
      return base::Err(base::Code::kUnavailable, "the program ended too early");
    }
    end = read_.find('\n');
  }
  std::string line = read_.substr(0, end);
  read_.erase(0, end + 1);
  return line;
}

base::Result<std::string> Child::Finish(base::Deadline deadline) {
  for (bool more = true; more;) {
    SKERRY_ASSIGN_OR_RETURN(more, ReadMore(deadline));
  }
  SKERRY_ASSIGN_OR_RETURN(const bool ended, process_.WaitForExit(deadline));
  if (!ended) return base::Err(base::Code::kTimeout, "closed its output and did not end");
  SKERRY_ASSIGN_OR_RETURN(const int status, process_.Reap());
  process_ = os::PidFd();
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) return std::unexpected(HowItFailed(status));
  return std::move(read_);
}

base::Error Child::HowItFailed(int status) const {
  std::string how = WIFSIGNALED(status) ? "killed by signal " + std::to_string(WTERMSIG(status))
                                        : "exited with " + std::to_string(WEXITSTATUS(status));
  ::lseek(errors_.get(), 0, SEEK_SET);
  std::string said = os::ReadAll(errors_.get(), kMaxOutput).value_or("");
  while (!said.empty() && said.back() == '\n') said.pop_back();
  // The last line names the error: a Python traceback ends with it, and most programs say one line only.
  said.erase(0, said.rfind('\n') == std::string::npos ? 0 : said.rfind('\n') + 1);
  if (!said.empty()) how += ": " + base::Printable(said);
  return {base::Code::kExecutionFailed, std::move(how)};
}

}  // namespace skerry::bench
