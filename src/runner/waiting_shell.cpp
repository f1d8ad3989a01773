#include "runner/waiting_shell.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <array>

#include "interpreters/interpreter.hpp"
#include "os/errno_error.hpp"
#include "os/files.hpp"
#include "os/pipe.hpp"

namespace skerry::runner {

base::Result<WaitingShell> WaitingShell::Start(const launcher::SandboxHandle& handle,
                                               launcher::CommandRequest request) {
  SKERRY_ASSIGN_OR_RETURN(os::Pipe in, os::Pipe::Create());
  SKERRY_ASSIGN_OR_RETURN(os::Pipe out, os::Pipe::Create());
  SKERRY_ASSIGN_OR_RETURN(os::Pipe err, os::Pipe::Create());
  SKERRY_ASSIGN_OR_RETURN(os::Pipe go, os::Pipe::Create());
  base::UniqueFd text(::memfd_create("skerry-code", MFD_CLOEXEC));
  if (!text.valid()) return os::ErrnoErr("memfd_create");
  for (const int fd : {in.write_end.get(), out.read_end.get(), err.read_end.get()})
    SKERRY_RETURN_IF_ERROR(os::SetNonBlocking(fd));
  request.arguments = interpreters::WaitingShell();
  const std::array fds = {in.read_end.get(), out.write_end.get(), err.write_end.get(), text.get(), go.read_end.get()};
  SKERRY_RETURN_IF_ERROR(handle.SendCommand(request, fds));
  return WaitingShell{request.id,      std::move(in.write_end), std::move(out.read_end), std::move(err.read_end),
                      std::move(text), std::move(go.write_end)};
}

base::Status WaitingShell::Run(std::string_view program) {
  SKERRY_RETURN_IF_ERROR(os::WriteAll(text.get(), interpreters::TextForWaitingShell(program)));
  text.Reset();
  SKERRY_RETURN_IF_ERROR(os::WriteAll(go.get(), "\n"));
  go.Reset();
  return {};
}

}  // namespace skerry::runner
