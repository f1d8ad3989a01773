// The parts of a core::Process that the fakes share: input, output, outcome.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "base/deadline.hpp"
#include "core/output_sink.hpp"
#include "core/process.hpp"

namespace skerry::backends::fake {

// The input of a program that the program has not read yet. Thread-safe.
class TinyInput {
 public:
  TinyInput(std::string text, core::InputEnd end)
      : pending_(std::move(text)), closed_(end == core::InputEnd::kClosed) {}

  base::Result<std::size_t> Feed(std::string_view bytes);
  base::Status Close();
  // The next bytes, "" at the end; nothing when none came by the deadline.
  std::optional<std::string> Take(base::Deadline deadline);
  [[nodiscard]] bool AwaitRoom(base::Deadline deadline);
  // The program does not read any more.
  void End();

 private:
  static constexpr std::size_t kMost = 65536;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::string pending_;
  bool closed_;
  bool ended_ = false;
};

// Passes output on and keeps count, as every backend must.
class TinyOutput {
 public:
  TinyOutput(core::OutputSink& sink, std::uint64_t room) : sink_(sink), room_(room) {}

  void Write(core::Stream stream, std::string_view bytes);
  [[nodiscard]] core::CommandResult Finish(const core::Outcome& outcome) const;

 private:
  core::OutputSink& sink_;
  std::uint64_t room_;
  std::uint64_t total_ = 0;
  bool truncated_ = false;
};

}  // namespace skerry::backends::fake
