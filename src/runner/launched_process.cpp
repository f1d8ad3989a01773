#include "runner/launched_process.hpp"

#include <fcntl.h>
#include <sys/ioctl.h>

#include <utility>

namespace skerry::runner {

LaunchedProcess::~LaunchedProcess() {
  if (awaited_ || !running_) return;
  std::stop_source stop;
  stop.request_stop();
  (void)LaunchedProcess::Await(stop.get_token());
}

std::unique_ptr<InputFeed> LaunchedProcess::MakeInput(base::UniqueFd sink, std::string farewell) {
  return std::make_unique<InputFeed>(std::move(command_.input), command_.input_end, std::move(sink),
                                     std::move(farewell));
}

void LaunchedProcess::Begin(RunningCommand running, core::StartKind start, base::Deadline deadline,
                            std::optional<WorkerProcess> worker) {
  if (worker) worker_.emplace(std::move(*worker));
  running_.emplace(std::move(running));
  if (command_.terminal) terminal_.Reset(::fcntl(running_->sources.standard_output.get(), F_DUPFD_CLOEXEC, 0));
  start_ = start;
  deadline_ = deadline;
}

void LaunchedProcess::BeginLost(RunningCommand running, core::StartKind start, base::Deadline deadline) {
  Begin(std::move(running), start, deadline);
  lost_ = true;
}

base::Result<std::size_t> LaunchedProcess::Feed(std::string_view bytes) {
  return running_ ? running_->input->Feed(bytes) : base::Err(base::Code::kConflict, "the program has ended");
}

bool LaunchedProcess::AwaitRoom(base::Deadline deadline) {
  return !running_ || running_->input->AwaitRoom(deadline);
}

base::Status LaunchedProcess::CloseInput() {
  return running_ ? running_->input->Close() : base::Err(base::Code::kConflict, "the program has ended");
}

base::Status LaunchedProcess::Signal(int number) {
  constexpr int kLast = 64;
  if (number < 1 || number > kLast)
    return base::Err(base::Code::kInvalidArgument, std::to_string(number) + " is no signal");
  return running_ ? running_->process.Signal(number) : base::Err(base::Code::kConflict, "the program has ended");
}

base::Status LaunchedProcess::Resize(const core::TerminalSize& size) {
  if (!terminal_.valid()) return base::Err(base::Code::kConflict, "the program has no terminal");
  winsize window{};
  window.ws_row = static_cast<unsigned short>(size.rows);
  window.ws_col = static_cast<unsigned short>(size.columns);
  (void)::ioctl(terminal_.get(), TIOCSWINSZ, &window);
  return {};
}

base::Result<core::CommandResult> LaunchedProcess::Await(std::stop_token stop) {
  awaited_ = true;
  if (over_) return *std::move(over_);
  if (lost_) return run_.GiveUp(*running_, start_, deadline_);
  return run_.Await(*running_, worker_ ? &*worker_ : nullptr, start_, deadline_, std::move(stop));
}

}  // namespace skerry::runner
