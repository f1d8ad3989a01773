#include "runner/waiting_shell.hpp"

#include <poll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>

#include "interpreters/interpreter.hpp"
#include "os/errno_error.hpp"
#include "os/files.hpp"
#include "os/pipe.hpp"

namespace skerry::runner {

base::Result<WaitingShell> WaitingShell::Start(const std::shared_ptr<SharedHandle>& life,
                                               launcher::CommandRequest request) {
  SKERRY_ASSIGN_OR_RETURN(os::Pipe in, os::Pipe::Create());
  SKERRY_ASSIGN_OR_RETURN(os::Pipe out, os::Pipe::Create());
  SKERRY_ASSIGN_OR_RETURN(os::Pipe err, os::Pipe::Create());
  // A socket, not a pipe: a shell that is gone must not end this process by SIGPIPE.
  std::array<int, 2> go{};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, go.data()) < 0) return os::ErrnoErr("socketpair");
  base::UniqueFd our_go(go[0]);
  const base::UniqueFd its_go(go[1]);
  base::UniqueFd text(::memfd_create("skerry-code", MFD_CLOEXEC));
  if (!text.valid()) return os::ErrnoErr("memfd_create");
  for (const int fd : {in.write_end.get(), out.read_end.get(), err.read_end.get()})
    SKERRY_RETURN_IF_ERROR(os::SetNonBlocking(fd));
  request.arguments = interpreters::WaitingShell();
  WatchedProcess process = WatchedProcess::Command(life);
  request.id = process.id();
  const std::array fds = {in.read_end.get(), out.write_end.get(), err.write_end.get(), text.get(), its_go.get()};
  SKERRY_RETURN_IF_ERROR(life->handle().SendCommand(request, fds));
  return WaitingShell{std::move(process),      std::move(in.write_end), std::move(out.read_end),
                      std::move(err.read_end), std::move(text),         std::move(our_go)};
}

bool WaitingShell::Waits() const {
  pollfd entry{go.get(), POLLIN, 0};
  return ::poll(&entry, 1, 0) == 0;  // a shell sends nothing, so only its end is readable
}

base::Status WaitingShell::Run(const core::Code& code, const std::map<std::string, std::string>& environment) {
  SKERRY_RETURN_IF_ERROR(os::WriteAll(text.get(), interpreters::TextForWaitingShell(code, environment)));
  text.Reset();
  if (::send(go.get(), "\n", 1, MSG_NOSIGNAL) != 1) return os::ErrnoErr("tell the shell");
  go.Reset();
  return {};
}

}  // namespace skerry::runner
