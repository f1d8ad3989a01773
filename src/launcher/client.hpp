// A backend's side: starts a launcher, has a sandbox made, runs commands in it, ends it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/deadline.hpp"
#include "base/result.hpp"
#include "base/unique_fd.hpp"
#include "launcher/protocol.hpp"
#include "os/pidfd.hpp"

namespace skerry::launcher {

// Where the two programs lie. Beside the running program by default.
struct ProgramPaths {
  std::string launcher;
  std::string init;
  static base::Result<ProgramPaths> BesideThisProgram();
};

// One sandbox. Not for use by several threads at once. The destructor ends the sandbox and waits for it.
class SandboxHandle {
 public:
  static base::Result<SandboxHandle> Start(const ProgramPaths& programs, const StartRequest& request, int workspace_fd);

  SandboxHandle(SandboxHandle&&) noexcept = default;
  SandboxHandle& operator=(SandboxHandle&&) = delete;
  SandboxHandle(const SandboxHandle&) = delete;
  SandboxHandle& operator=(const SandboxHandle&) = delete;
  ~SandboxHandle();

  [[nodiscard]] const std::vector<std::string>& degraded() const { return started_.degraded; }

  // Becomes readable when a command has ended, or at its end when the sandbox is gone.
  [[nodiscard]] int control_fd() const { return control_.get(); }

  // `fds`: stdin, stdout, stderr and, for programs that read their text from descriptor 3, that. They stay the
  // caller's.
  base::Status SendCommand(const CommandRequest& command, std::span<const int> fds) const;
  // Nothing when the sandbox is gone.
  base::Result<std::optional<CommandEnded>> ReceiveEnd(base::Deadline deadline) const;

  base::Result<Usage> AskUsage() const;

  // Kills everything inside; returns when nothing is left. Further calls return the same.
  base::Result<Ended> Stop();

 private:
  SandboxHandle(os::PidFd launcher, base::UniqueFd socket)
      : launcher_(std::move(launcher)), socket_(std::move(socket)) {}

  os::PidFd launcher_;
  base::UniqueFd socket_;
  base::UniqueFd control_;
  Started started_;
  std::optional<Ended> ended_;
};

}  // namespace skerry::launcher
