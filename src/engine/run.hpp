// Run: something that executes, or has executed: code, a command, a cell. It belongs to nobody's connection.
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

// What else can be done to a run, or comes with it.
struct RunChannels {
  RunInput input;  // that is known already
  RunControls::Input fed = RunControls::Input::kNone;
  bool signals = false;                        // it takes signals
  std::optional<core::TerminalSize> terminal;  // none: it has no terminal
};

// What a run was fed.
struct FedInput {
  std::uint64_t bytes = 0;
  std::string sha256;
};

// Thread-safe.
class Run {
 public:
  // Under way.
  Run(core::RunRecord record, int log_directory, RunChannels channels, OutputRoom room = {});
  // One that is over, from the store.
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
  // It is over and wrote something, and nothing of that is kept.
  [[nodiscard]] bool HasLostOutput() const;
  [[nodiscard]] base::Result<OutputReader> Output(std::uint64_t offset) const;

  // False when it had not ended at the deadline or when `stop` was asked for.
  bool Await(base::Deadline deadline, std::stop_token stop) const;

  // Called after every change of its state and its output, by whatever thread caused it, until the watch ends.
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

  // Those who follow it closely. After EndUnattended it ends when the last of them goes.
  void Attach() { ++attached_; }
  void Detach() {
    if (--attached_ == 0 && ends_unattended_) Cancel();
  }
  void EndUnattended() { ends_unattended_ = true; }

  // Ends it as soon as it can be.
  void Cancel() { stop_.request_stop(); }

  // How many bytes were taken: fewer when the program does not read. kConflict when it has no input or has ended.
  base::Result<std::size_t> Feed(std::string_view bytes);
  base::Status EndInput();
  // All of it so far. None for a run without such a pipe.
  [[nodiscard]] std::optional<FedInput> fed() const;
  // The same, when at least so many bytes came since the last time that it was given.
  [[nodiscard]] std::optional<FedInput> TakeFed(std::uint64_t least);
  // Until there may be room again. False at the deadline.
  [[nodiscard]] bool AwaitRoom(base::Deadline deadline) { return controls_.AwaitRoom(deadline); }
  base::Status Signal(int number);
  // kConflict when it has no terminal.
  base::Status Resize(const core::TerminalSize& size);

  // For whoever executes it.
  [[nodiscard]] core::OutputSink& sink() { return sink_; }
  [[nodiscard]] std::stop_token stop_token() { return stop_.get_token(); }
  // With kOpen: what the controls are fed.
  [[nodiscard]] const RunInput& input() { return input_; }
  [[nodiscard]] RunControls& controls() { return controls_; }
  [[nodiscard]] bool HasTerminal() const { return has_terminal_; }
  void MarkRunning();
  // Waits for a person.
  void Tell() const { Notify(); }
  void Finish(RunEnd end, core::TimePoint at);

 private:
  // Passes on, and tells whoever watches.
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
  std::unique_ptr<OutputLog> log_;  // none when it is over
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
