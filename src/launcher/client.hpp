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
  // `fds`: the host's directories that the request names, in its order. They stay the caller's.
  static base::Result<SandboxHandle> Start(const ProgramPaths& programs, const StartRequest& request,
                                           std::span<const int> fds);

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
  // The next word of the init, with what came along. Nothing when the sandbox is gone.
  struct InitMessage {
    FromInit message;
    std::vector<base::UniqueFd> fds;
  };
  base::Result<std::optional<InitMessage>> Receive(base::Deadline deadline) const;

  // The views of a workspace that is not direct (changes, then merged), else empty. They outlive the sandbox.
  std::vector<base::UniqueFd> TakeViews() { return std::move(views_); }

  base::Result<Usage> AskUsage() const;

  // Kills everything inside; returns when nothing is left. Further calls return the same.
  base::Result<Ended> Stop();

 private:
  SandboxHandle(os::PidFd launcher, base::UniqueFd socket)
      : launcher_(std::move(launcher)), socket_(std::move(socket)) {}

  os::PidFd launcher_;
  base::UniqueFd socket_;
  base::UniqueFd control_;
  std::vector<base::UniqueFd> views_;
  Started started_;
  std::optional<Ended> ended_;
};

}  // namespace skerry::launcher
