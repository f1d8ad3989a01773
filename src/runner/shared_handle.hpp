// One life of a sandbox, shared by several commands: the messages of the init and the launcher reach the command that
// they are about.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>

#include "base/deadline.hpp"
#include "base/result.hpp"
#include "base/unique_fd.hpp"
#include "core/usage.hpp"
#include "launcher/client.hpp"
#include "runner/usage_sampler.hpp"

namespace skerry::runner {

// Thread-safe. The two sockets are read by any command that sees that they are readable; a message about another
// command is kept until that command asks for it, and that command is woken. The destructor ends the sandbox.
class SharedHandle {
 public:
  explicit SharedHandle(launcher::SandboxHandle handle);

  [[nodiscard]] int control_fd() const { return handle_.control_fd(); }
  [[nodiscard]] int launcher_fd() const { return handle_.launcher_fd(); }
  [[nodiscard]] const launcher::SandboxHandle& handle() const { return handle_; }

  // A number for a command or a fork. Messages about it are kept from now on, until Forget.
  std::uint64_t Expect();
  void Forget(std::uint64_t id);
  // A descriptor that is readable when another thread has received a message about this number. For commands that share
  // the life.
  int MakeWake(std::uint64_t id);

  // Forks a worker that has this number. Gives its pid on the host.
  base::Result<std::uint64_t> Fork(std::uint64_t id, const std::string& zygote, std::span<const int> fds);

  // The end of a command or of a fork when it has been reported by now; may be asked again. An error when the sandbox
  // has ended.
  enum class Kind { kCommand, kFork };
  base::Result<std::optional<launcher::CommandEnded>> TakeEnd(std::uint64_t id, Kind kind);
  // Skerry's end of a command's terminal. kExecutionFailed when the terminal could not be opened.
  base::Result<base::UniqueFd> AwaitTerminal(std::uint64_t id, base::Deadline deadline);

  // The launcher ends the sandbox after this long; zero for never.
  base::Status Announce(std::chrono::milliseconds lifetime) const { return handle_.AnnounceActivity(lifetime); }
  // A turn of a command that runs beside others: the sandbox lives as long as the longest lifetime of a turn says.
  std::uint64_t BeginTurn(std::chrono::milliseconds lifetime);
  // Whether other commands had a turn meanwhile.
  enum class Company { kAlone, kWithOthers };
  Company EndTurn(std::uint64_t turn);

  // What was used up to now; what LastUsage says when that could not be found out.
  launcher::Usage AskUsage();
  // What was used when that was last asked for, or at the end.
  launcher::Usage LastUsage();
  // What is used now, except for limits and disk; see UsageSampler. False when the sandbox has ended. Does not wait.
  [[nodiscard]] bool Fill(core::SandboxUsage& usage, std::uint64_t waiting);
  // See core::Sandbox.
  [[nodiscard]] bool ShareProcessors(std::uint32_t parts) const;
  base::Status Bring(launcher::MotionKind wanted);
  void BeginStop();
  // May be called again and gives the same answer.
  base::Result<launcher::Ended> Stop();
  // Whether the init has ended.
  [[nodiscard]] bool Gone() const;
  // Whether Stop was called.
  [[nodiscard]] bool Over() const { return over_; }

 private:
  struct Told {
    std::optional<launcher::CommandEnded> end;
    base::UniqueFd terminal;
    base::UniqueFd wake;
  };
  struct Turn {
    base::Deadline life = base::Deadline::Never();
    Company company = Company::kAlone;
  };

  void File(launcher::SandboxHandle::InitMessage said);
  void File(const launcher::ForkEnded& end);
  void KillOnHost(const launcher::TreeToKill& tree) const;
  base::Result<std::optional<launcher::CommandEnded>> TakeCommandEnd(std::uint64_t id);
  base::Result<std::optional<launcher::CommandEnded>> TakeForkEnd(std::uint64_t id);
  std::optional<launcher::CommandEnded> KnownEnd(std::uint64_t id);
  void AnnounceLongest();
  void HearOfForks();
  launcher::Usage Note(const launcher::Usage& usage);

  std::mutex asking_;  // held while the launcher's answer is awaited; taken before mutex_
  std::mutex mutex_;   // guards what follows and the reading of the init's socket; never held during a wait
  std::map<std::uint64_t, Told> told_;
  std::map<std::uint64_t, std::uint64_t> forks_;  // from pid to number
  std::map<std::uint64_t, Turn> turns_;
  launcher::Usage usage_;
  std::chrono::microseconds fork_time_{0};  // of forks that have ended
  std::uint64_t next_ = 1;
  std::atomic<bool> over_ = false;
  launcher::SandboxHandle handle_;  // its destruction still reports ends of forks to the members above
  UsageSampler sampler_;
};

}  // namespace skerry::runner
