// RunControls: what clients can do to a run while it waits and while its program runs: input, signals, window size.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/deadline.hpp"
#include "base/result.hpp"
#include "core/process.hpp"
#include "engine/run_input.hpp"

namespace skerry::engine {

// Thread-safe. Input and signals that come before the program runs are kept for it, within bounds.
class RunControls {
 public:
  enum class Input {
    kNone,  // the run has no input, or one that is known already
    kFed,   // fed by Feed, until CloseInput
  };
  explicit RunControls(Input input) : open_(input == Input::kFed) {}
  RunControls(const RunControls&) = delete;
  RunControls& operator=(const RunControls&) = delete;

  // Gives how many bytes were taken: fewer when the program does not read. kConflict when the run takes no input.
  base::Result<std::size_t> Feed(std::string_view bytes);
  // Waits until Feed may take more. False at the deadline.
  [[nodiscard]] bool AwaitRoom(base::Deadline deadline);
  // kConflict when the run takes no input any more; kUnavailable: try again after AwaitRoom.
  base::Status CloseInput();
  base::Status Signal(int number);
  base::Status Resize(const core::TerminalSize& size);
  [[nodiscard]] core::TerminalSize size() const;
  [[nodiscard]] bool takes_input() const;

  // The run is over, whether or not a program ran.
  void End();

  // For the code that runs the program: the bytes fed so far, as the beginning of the input. Once, before Attach.
  RunInput TakeInput();

  // While it lives, input, signals and sizes go to the process.
  class Attachment {
   public:
    Attachment(Attachment&&) = delete;
    Attachment& operator=(Attachment&&) = delete;
    ~Attachment();

   private:
    friend class RunControls;
    explicit Attachment(RunControls& controls) : controls_(controls) {}
    RunControls& controls_;
  };
  [[nodiscard]] Attachment Attach(core::Process& process);

 private:
  static constexpr std::size_t kMostKept = 65536;
  static constexpr std::size_t kMostSignals = 64;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  core::Process* process_ = nullptr;
  int waiting_ = 0;  // threads that wait for room at the process
  bool open_;
  bool taken_ = false;
  std::string early_;
  std::vector<int> early_signals_;
  std::optional<core::TerminalSize> size_;
};

}  // namespace skerry::engine
