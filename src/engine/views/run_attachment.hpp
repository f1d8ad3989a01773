// RunAttachment: a client at a running command, which reads it, feeds it and signals it.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <string_view>
#include <utility>
#include <vector>

#include "base/deadline.hpp"
#include "engine/run.hpp"
#include "engine/views/access.hpp"

namespace skerry::engine {

// Thread-safe except for Next. Made by RunsView::Attach.
class RunAttachment {
 public:
  RunAttachment(const RunAttachment&) = delete;
  RunAttachment& operator=(const RunAttachment&) = delete;
  ~RunAttachment() { Leave(); }

  [[nodiscard]] const Access& access() const { return access_; }
  [[nodiscard]] std::shared_ptr<const Run> run() const { return run_; }
  // The output of the run, as OutputReader gives it.
  base::Result<std::vector<OutputPiece>> Next(std::size_t limit) { return reader_.Next(limit); }

  // As the methods of Run. The audit has fed input when the run ends, with all other input; a signal at once.
  base::Result<std::size_t> Feed(std::string_view bytes) { return run_->Feed(bytes); }
  base::Status EndInput() { return run_->EndInput(); }
  [[nodiscard]] bool AwaitRoom(base::Deadline deadline) { return run_->AwaitRoom(deadline); }
  base::Status Signal(int number);
  base::Status Resize(const core::TerminalSize& size) { return run_->Resize(size); }

  // The client has disconnected.
  void Leave();

 private:
  friend class RunsView;
  RunAttachment(Access access, std::shared_ptr<Run> run, OutputReader reader);

  const Access access_;
  const std::shared_ptr<Run> run_;
  OutputReader reader_;
  std::once_flag left_;
};

}  // namespace skerry::engine
