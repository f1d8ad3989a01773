// A process of a sandbox whose end is awaited: a command, or a worker that a zygote forked.
#pragma once

#include <sys/types.h>

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "base/deadline.hpp"
#include "base/result.hpp"
#include "launcher/protocol.hpp"
#include "runner/shared_handle.hpp"

namespace skerry::runner {

// Keeps the sandbox's handle, not the sandbox. Used by one thread at a time; other processes of the sandbox may be used
// by other threads.
class WatchedProcess {
 public:
  // A process that is sent to the init as a command with the number id().
  static WatchedProcess Command(std::shared_ptr<SharedHandle> life);
  static base::Result<WatchedProcess> Fork(std::shared_ptr<SharedHandle> life, const std::string& zygote,
                                           std::span<const int> fds);

  WatchedProcess(WatchedProcess&&) noexcept = default;
  WatchedProcess& operator=(WatchedProcess&&) = delete;
  WatchedProcess(const WatchedProcess&) = delete;
  WatchedProcess& operator=(const WatchedProcess&) = delete;
  ~WatchedProcess();

  [[nodiscard]] SharedHandle& life() const { return *life_; }
  [[nodiscard]] const std::shared_ptr<SharedHandle>& shared_life() const { return life_; }
  [[nodiscard]] std::uint64_t id() const { return id_; }
  [[nodiscard]] bool forked() const { return pid_ != 0; }

  // From now on other threads read the same sockets.
  void ShareLife();

  // Readable when TakeEnd may have an answer; -1 for none.
  [[nodiscard]] std::array<int, 2> controls() const {
    return {forked() ? life_->launcher_fd() : life_->control_fd(), wake_};
  }

  // Nothing while the process lives; may be asked again. An error when the sandbox is lost.
  [[nodiscard]] base::Result<std::optional<launcher::CommandEnded>> TakeEnd() const;
  [[nodiscard]] base::Result<std::optional<launcher::CommandEnded>> AwaitEnd(base::Deadline deadline) const;

  // Sends a signal to the process and its group.
  [[nodiscard]] base::Status Signal(int number) const;

  // Ends the process with all that it started, and waits a while for its end. Gives the end when it was reported.
  std::optional<launcher::CommandEnded> EndTree() const;

 private:
  [[nodiscard]] bool KillTree() const;
  WatchedProcess(std::shared_ptr<SharedHandle> life, std::uint64_t id) : life_(std::move(life)), id_(id) {}

  std::shared_ptr<SharedHandle> life_;
  std::uint64_t id_;
  std::uint64_t pid_ = 0;  // on the host; 0 for a command
  int wake_ = -1;          // owned by the life
};

}  // namespace skerry::runner
