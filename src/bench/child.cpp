#include "bench/child.hpp"

#include <poll.h>
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
#include "os/spawn.hpp"

namespace skerry::bench {
namespace {

constexpr std::size_t kMaxOutput = 1U << 20U;

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
  os::SpawnPlan plan(os::Lead::kGroup);
  if (its_input.valid())
    plan.Place(its_input.get(), STDIN_FILENO);
  else
    plan.PlaceNull(STDIN_FILENO);
  plan.Place(out.write_end.get(), STDOUT_FILENO);
  plan.Place(errors.get(), STDERR_FILENO);
  SKERRY_ASSIGN_OR_RETURN(const pid_t pid,
                          plan.Spawn(command.arguments.front(), command.arguments, command.environment));
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
  ::kill(-process_.pid(), SIGKILL);  // the program is not reaped yet, so its pid cannot belong to another process
  (void)process_.Reap();
}

base::Status Child::Write(std::string_view bytes) const {
  // A socket, not a pipe: writing to a program that is gone must not end this process by SIGPIPE.
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
  // The last line names the error: a Python traceback ends with it, and most programs print one line only.
  said.erase(0, said.rfind('\n') == std::string::npos ? 0 : said.rfind('\n') + 1);
  if (!said.empty()) how += ": " + base::Printable(said);
  return {base::Code::kExecutionFailed, std::move(how)};
}

}  // namespace skerry::bench
