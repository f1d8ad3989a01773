// Run: code, a command or a cell that executes or has executed. It is independent of any connection.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

#include "base/deadline.hpp"
#include "base/result.hpp"
#include "base/sha256.hpp"
#include "base/unique_fd.hpp"
#include "core/backend.hpp"
#include "core/run_end.hpp"
#include "core/service_store.hpp"
#include "engine/output_log.hpp"
#include "engine/run_controls.hpp"
#include "engine/run_input.hpp"

namespace skerry::engine {

using core::RunEnd;

// What a run is given to read, and what can be done to it meanwhile.
struct RunChannels {
  RunInput input;  // the input that is known already
  RunControls::Input fed = RunControls::Input::kNone;
  bool signals = false;                        // the run takes signals
  std::optional<core::TerminalSize> terminal;  // none: the run has no terminal
};

// What a run was fed.
struct FedInput {
  std::uint64_t bytes = 0;
  std::string sha256;
};

// Thread-safe.
class Run {
 public:
  // A run that is under way.
  Run(core::RunRecord record, int log_directory, RunChannels channels, OutputRoom room = {});
  // A run that is over, from the store.
  Run(core::RunRecord record, int log_directory);

  [[nodiscard]] const core::RunRecord& record() const { return record_; }
  [[nodiscard]] const std::string& id() const { return record_.id; }
  [[nodiscard]] core::RunState state() const;
  // Null until the run is over.
  [[nodiscard]] std::shared_ptr<const RunEnd> end() const;
  [[nodiscard]] std::optional<core::TimePoint> ended_at() const;
  [[nodiscard]] std::uint64_t output_bytes() const;
  [[nodiscard]] std::uint64_t lost_bytes() const { return log_ ? log_->lost() : 0; }  // that were not kept
  [[nodiscard]] bool was_refused_room() const { return log_ && log_->was_refused(); }
  // Whether the run is over and wrote something, and none of that is kept.
  [[nodiscard]] bool HasLostOutput() const;
  [[nodiscard]] base::Result<OutputReader> Output(std::uint64_t offset) const;

  // False when the run had not ended at the deadline or when `stop` was asked for.
  bool Await(base::Deadline deadline, std::stop_token stop) const;

  // `changed` is called after every change of the run's state or output, by the thread that caused it, until the watch
  // ends.
  class Watch {
   public:
    Watch() = default;
    Watch(Watch&& other) noexcept : run_(std::move(other.run_)), number_(other.number_) {}
    Watch& operator=(Watch&& other) noexcept;
    ~Watch();

   private:
    friend class Run;
    Watch(std::shared_ptr<const Run> run, std::uint64_t number) : run_(std::move(run)), number_(number) {}
    std::shared_ptr<const Run> run_;
    std::uint64_t number_ = 0;
  };
  static Watch WatchIt(const std::shared_ptr<const Run>& run, std::function<void()> changed);

  // For clients that follow the run closely. After EndUnattended the run ends when the last of them detaches.
  void Attach() { ++attached_; }
  void Detach() {
    if (--attached_ == 0 && ends_unattended_) Cancel();
  }
  void EndUnattended() { ends_unattended_ = true; }

  // Ends the run as soon as possible.
  void Cancel() { stop_.request_stop(); }

  // Gives how many bytes were taken: fewer when the program does not read. kConflict when the run has no input or has
  // ended.
  base::Result<std::size_t> Feed(std::string_view bytes);
  base::Status EndInput();
  // All input so far. None for a run without such a pipe.
  [[nodiscard]] std::optional<FedInput> fed() const;
  // The same, when at least so many bytes came since the last call that gave something.
  [[nodiscard]] std::optional<FedInput> TakeFed(std::uint64_t least);
  // Waits until there may be room again. False at the deadline.
  [[nodiscard]] bool AwaitRoom(base::Deadline deadline) { return controls_.AwaitRoom(deadline); }
  base::Status Signal(int number);
  // kConflict when the run has no terminal.
  base::Status Resize(const core::TerminalSize& size);

  // For the code that executes the run.
  [[nodiscard]] core::OutputSink& sink() { return sink_; }
  [[nodiscard]] std::stop_token stop_token() { return stop_.get_token(); }
  // With kOpen: more comes through the controls.
  [[nodiscard]] const RunInput& input() { return input_; }
  [[nodiscard]] RunControls& controls() { return controls_; }
  [[nodiscard]] bool HasTerminal() const { return has_terminal_; }
  void MarkRunning();
  // The run waits for a person, or does not any more.
  void Tell() const { Notify(); }
  void Finish(RunEnd end, core::TimePoint at);

 private:
  // Writes to the log, and tells the watches.
  class TellingSink : public core::OutputSink {
   public:
    explicit TellingSink(Run& run) : run_(run) {}
    core::SinkAnswer Write(core::Stream stream, std::string_view bytes, base::Deadline deadline) override;

   private:
    Run& run_;
  };
  void Notify() const;

  const core::RunRecord record_;
  const int log_directory_;
  RunInput input_;
  RunControls controls_;
  const bool is_fed_;
  const bool takes_signals_;
  const bool has_terminal_;
  base::Sha256 fed_hash_;
  std::uint64_t fed_bytes_ = 0;
  std::uint64_t fed_told_ = 0;
  std::unique_ptr<OutputLog> log_;  // none when the run is over from the start
  TellingSink sink_{*this};
  std::stop_source stop_;
  std::atomic<int> attached_ = 0;
  std::atomic<bool> ends_unattended_ = false;
  mutable std::mutex mutex_;
  mutable std::condition_variable_any ended_;
  core::RunState state_;
  std::shared_ptr<const RunEnd> end_;
  std::optional<core::TimePoint> ended_at_;
  mutable std::mutex watch_mutex_;
  mutable std::map<std::uint64_t, std::function<void()>> watchers_;
  mutable std::uint64_t next_watch_ = 1;
};

}  // namespace skerry::engine
