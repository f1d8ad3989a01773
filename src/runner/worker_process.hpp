// An interpreter that waits in a sandbox with its three streams and a channel, ready to be told what to run.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/deadline.hpp"
#include "base/result.hpp"
#include "base/unique_fd.hpp"
#include "core/backend.hpp"
#include "interpreters/worker.hpp"
#include "launcher/client.hpp"

namespace skerry::runner {

// Belongs to the sandbox of the handle that made it and ends with it. Used by one thread at a time.
class WorkerProcess {
 public:
  // Forked by a zygote; kUnavailable when that cannot be.
  static base::Result<WorkerProcess> Fork(launcher::SandboxHandle& handle, std::string_view zygote);
  // Started by the sandbox's init, as a command with this id.
  static base::Result<WorkerProcess> Exec(launcher::SandboxHandle& handle, core::Language language,
                                          launcher::CommandRequest request);

  // Waits until it has done what can be done ahead.
  base::Status AwaitReady(base::Deadline deadline);

  // kTimeout when it has not taken all of it by then: a program can stop its own interpreter.
  base::Status Send(std::string_view message, base::Deadline deadline) const;

  // Reads what has arrived on the channel. False when its other end is closed or it said what is no word.
  bool Listen();
  std::optional<interpreters::WorkerWord> NextWord() { return hearing_.Next(); }

  [[nodiscard]] int channel_fd() const { return channel_.get(); }
  [[nodiscard]] std::optional<std::uint64_t> forked_pid() const { return pid_; }
  [[nodiscard]] std::uint64_t command_id() const { return command_id_; }

  // The ends that are ours. Non-blocking.
  base::UniqueFd input;
  base::UniqueFd output;
  base::UniqueFd error;

 private:
  explicit WorkerProcess(std::size_t limit) : hearing_(limit) {}
  // Makes the streams; what the interpreter gets of them.
  base::Result<std::vector<base::UniqueFd>> MakeStreams();

  base::UniqueFd channel_;
  interpreters::WorkerHearing hearing_;
  std::optional<std::uint64_t> pid_;
  std::uint64_t command_id_ = 0;
};

}  // namespace skerry::runner
