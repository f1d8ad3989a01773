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

// Belongs to the life of the sandbox that it was made in, and ends with it. Used by one thread at a time.
class WorkerProcess {
 public:
  // Forked by a zygote; kUnavailable when the zygote cannot.
  static base::Result<WorkerProcess> Fork(const std::shared_ptr<SharedHandle>& life, std::string_view zygote);
  // Started by the sandbox's init.
  static base::Result<WorkerProcess> Exec(const std::shared_ptr<SharedHandle>& life, core::Language language,
                                          launcher::CommandRequest request);

  // Waits until the interpreter has done all that it can do before it gets a program.
  base::Status AwaitReady(base::Deadline deadline);

  // kTimeout when the interpreter has not taken the whole message by the deadline: a program can stop its own
  // interpreter.
  base::Status Send(std::string_view message, base::Deadline deadline) const;

  // Reads what has arrived on the channel. False when the other end is closed or sent what is no word.
  bool Listen();
  // Reads all that the interpreter sent before its end.
  void HearLastWords();
  std::optional<interpreters::WorkerWord> NextWord() { return hearing_.Next(); }

  [[nodiscard]] int channel_fd() const { return channel_.get(); }
  [[nodiscard]] WatchedProcess& process() { return *process_; }
  [[nodiscard]] const WatchedProcess& process() const { return *process_; }

  // Skerry's ends of the streams. Non-blocking.
  base::UniqueFd input;
  base::UniqueFd output;
  base::UniqueFd error;

 private:
  explicit WorkerProcess(std::size_t limit) : hearing_(limit) {}
  // Makes the streams. Gives the interpreter's ends.
  base::Result<std::vector<base::UniqueFd>> MakeStreams();

  base::UniqueFd channel_;
  interpreters::WorkerHearing hearing_;
  std::optional<WatchedProcess> process_;
};

}  // namespace skerry::runner
