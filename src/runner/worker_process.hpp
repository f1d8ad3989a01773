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
#include "launcher/protocol.hpp"
#include "runner/watched_process.hpp"

namespace skerry::runner {

// Belongs to the life of the sandbox that it was made in and ends with it. Used by one thread at a time.
class WorkerProcess {
 public:
  // Forked by a zygote; kUnavailable when that cannot be.
  static base::Result<WorkerProcess> Fork(const std::shared_ptr<SharedHandle>& life, std::string_view zygote);
  // Started by the sandbox's init.
  static base::Result<WorkerProcess> Exec(const std::shared_ptr<SharedHandle>& life, core::Language language,
                                          launcher::CommandRequest request);

  // Waits until it has done what can be done ahead.
  base::Status AwaitReady(base::Deadline deadline);

  // kTimeout when it has not taken all of it by then: a program can stop its own interpreter.
  base::Status Send(std::string_view message, base::Deadline deadline) const;

  // Reads what has arrived on the channel. False when its other end is closed or it said what is no word.
  bool Listen();
  // What it had said before its end.
  void HearLastWords();
  std::optional<interpreters::WorkerWord> NextWord() { return hearing_.Next(); }

  [[nodiscard]] int channel_fd() const { return channel_.get(); }
  [[nodiscard]] WatchedProcess& process() { return *process_; }
  [[nodiscard]] const WatchedProcess& process() const { return *process_; }

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
  std::optional<WatchedProcess> process_;
};

}  // namespace skerry::runner
