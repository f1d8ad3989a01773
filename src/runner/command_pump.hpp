// Moves a running command's bytes until it has ended: stdin in, stdout and stderr out, limits kept.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "base/deadline.hpp"
#include "base/result.hpp"
#include "base/unique_fd.hpp"
#include "core/output_sink.hpp"
#include "runner/input_feed.hpp"

namespace skerry::runner {

enum class PumpEnd {
  kControlReady,  // a control socket is readable: the command has ended, or the sandbox is gone
  kDeadline,
  kCancelled,  // by the interrupt descriptor, or because the sink wants no more
};

// Pumps one command. Single-threaded; every descriptor it reads from is non-blocking.
class CommandPump {
 public:
  CommandPump(core::OutputSink& sink, std::uint64_t max_output_bytes) : sink_(sink), room_(max_output_bytes) {}

  struct Sources {
    base::UniqueFd standard_output;
    base::UniqueFd standard_error;
    std::array<int, 3> controls = {-1, -1, -1};  // borrowed
    int interrupt = -1;                          // borrowed; readable when the caller wants the command ended
  };

  base::Result<PumpEnd> Run(Sources& sources, InputFeed& input, base::Deadline deadline);

  // Takes the bytes that are left in the pipes after the command's end; a process that lives on and keeps writing is
  // not waited for. False when the sink had not taken everything by the deadline: then it may be called again.
  bool Drain(Sources& sources, base::Deadline deadline);

  // From now on Run does not return when the sink wants no more: the program's output is read and dropped.
  void ReadOn() { reads_on_ = true; }

  [[nodiscard]] bool truncated() const { return truncated_; }
  [[nodiscard]] std::uint64_t total_bytes() const { return total_; }

 private:
  struct Held {
    core::Stream stream = core::Stream::kStdout;
    std::string bytes;
  };

  // False when the stream has ended.
  bool ReadOnce(int fd, core::Stream stream, std::size_t limit, base::Deadline deadline);
  void Deliver(core::Stream stream, std::string_view bytes, base::Deadline deadline);
  void DeliverHeld(base::Deadline deadline);
  void DrainOne(const base::UniqueFd& fd, core::Stream stream, base::Deadline deadline);
  void DrainTerminal(int fd, core::Stream stream, base::Deadline deadline);

  core::OutputSink& sink_;
  std::uint64_t room_;
  std::uint64_t total_ = 0;
  bool truncated_ = false;
  bool wanted_ = true;
  bool reads_on_ = false;
  Held held_;  // bytes that the sink had no time for
};

}  // namespace skerry::runner
