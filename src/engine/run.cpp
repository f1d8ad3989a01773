#include "engine/run.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <thread>
#include <utility>

namespace skerry::engine {

Run::Run(core::RunRecord record, int log_directory, RunChannels channels, OutputRoom room)
    : record_(std::move(record)),
      log_directory_(log_directory),
      input_(std::move(channels.input)),
      controls_(channels.fed),
      is_fed_(channels.fed == RunControls::Input::kFed),
      takes_signals_(channels.signals),
      has_terminal_(channels.terminal.has_value()),
      log_(std::make_unique<OutputLog>(log_directory, record_.id, std::move(room))),
      state_(record_.state) {
  if (is_fed_) input_.end = core::InputEnd::kOpen;
  if (channels.terminal) (void)controls_.Resize(*channels.terminal);
}

Run::Run(core::RunRecord record, int log_directory)
    : record_(std::move(record)),
      log_directory_(log_directory),
      controls_(RunControls::Input::kNone),
      is_fed_(false),
      takes_signals_(false),
      has_terminal_(false),
      state_(record_.state),
      end_(std::make_shared<const RunEnd>(record_.end.value_or(RunEnd{.state = record_.state}))),
      ended_at_(record_.ended_at) {}

core::RunState Run::state() const {
  const std::scoped_lock lock(mutex_);
  return state_;
}

std::shared_ptr<const RunEnd> Run::end() const {
  const std::scoped_lock lock(mutex_);
  return end_;
}

std::optional<core::TimePoint> Run::ended_at() const {
  const std::scoped_lock lock(mutex_);
  return ended_at_;
}

std::uint64_t Run::output_bytes() const {
  if (log_) return log_->size();
  const std::scoped_lock lock(mutex_);
  return end_ ? end_->result.output_bytes : 0;
}

bool Run::HasLostOutput() const {
  return core::IsFinal(state()) && output_bytes() != 0 &&
         ::faccessat(log_directory_, record_.id.c_str(), F_OK, AT_SYMLINK_NOFOLLOW) != 0;
}

base::Result<OutputReader> Run::Output(std::uint64_t offset) const {
  return log_ ? log_->Read(offset) : OutputLog::ReadFile(log_directory_, record_.id, offset);
}

bool Run::Await(base::Deadline deadline, std::stop_token stop) const {
  std::unique_lock lock(mutex_);
  const auto over = [&] { return core::IsFinal(state_); };
  if (deadline.IsNever()) return ended_.wait(lock, std::move(stop), over);
  return ended_.wait_for(lock, std::move(stop), deadline.Remaining(), over);
}

Run::Watch& Run::Watch::operator=(Watch&& other) noexcept {
  std::swap(run_, other.run_);
  std::swap(number_, other.number_);
  return *this;
}

Run::Watch::~Watch() {
  if (run_ == nullptr) return;
  const std::scoped_lock lock(run_->watch_mutex_);
  run_->watchers_.erase(number_);
}

Run::Watch Run::WatchIt(const std::shared_ptr<const Run>& run, std::function<void()> changed) {
  const std::scoped_lock lock(run->watch_mutex_);
  const std::uint64_t number = run->next_watch_++;
  run->watchers_.emplace(number, std::move(changed));
  return {run, number};
}

void Run::Notify() const {
  const std::scoped_lock lock(watch_mutex_);
  for (const auto& [number, changed] : watchers_) changed();
}

core::SinkAnswer Run::TellingSink::Write(core::Stream stream, std::string_view bytes, base::Deadline deadline) {
  const core::SinkAnswer answer = run_.log_->Write(stream, bytes, deadline);
  run_.Notify();
  return answer;
}

namespace {

base::Error NoInput(const std::string& id) {
  return {base::Code::kConflict, id + " takes no input: it has ended, was made without, or its input was closed"};
}

}  // namespace

base::Result<std::size_t> Run::Feed(std::string_view bytes) {
  const std::scoped_lock lock(mutex_);
  if (core::IsFinal(state_)) return std::unexpected(NoInput(id()));
  const auto taken = controls_.Feed(bytes);
  if (!taken) return std::unexpected(NoInput(id()));
  fed_hash_.Update(bytes.substr(0, *taken));
  fed_bytes_ += *taken;
  return taken;
}

std::optional<FedInput> Run::fed() const {
  const std::scoped_lock lock(mutex_);
  if (!is_fed_) return std::nullopt;
  return FedInput{.bytes = fed_bytes_, .sha256 = base::Sha256(fed_hash_).FinishHex()};
}

std::optional<FedInput> Run::TakeFed(std::uint64_t least) {
  {
    const std::scoped_lock lock(mutex_);
    if (fed_bytes_ - fed_told_ < least) return std::nullopt;
    fed_told_ = fed_bytes_;
  }
  return fed();
}

base::Status Run::EndInput() {
  constexpr std::chrono::milliseconds kPatience{100};
  for (int tries = 0;; ++tries) {
    const auto closed = controls_.CloseInput();
    // A terminal may have no room just now, or the program is about to begin.
    const bool again = !closed && closed.error().code == base::Code::kUnavailable && tries < 100;
    if (!again) return closed ? closed : std::unexpected(NoInput(id()));
    if (controls_.AwaitRoom(base::Deadline::After(kPatience))) std::this_thread::sleep_for(kPatience / 100);
  }
}

base::Status Run::Signal(int number) {
  const std::scoped_lock lock(mutex_);
  if (core::IsFinal(state_)) return base::Err(base::Code::kConflict, id() + " has ended");
  if (!takes_signals_) return base::Err(base::Code::kConflict, id() + " takes no signals");
  return controls_.Signal(number);
}

base::Status Run::Resize(const core::TerminalSize& size) {
  const std::scoped_lock lock(mutex_);
  if (!has_terminal_ || core::IsFinal(state_)) return base::Err(base::Code::kConflict, id() + " has no terminal");
  return controls_.Resize(size);
}

void Run::MarkRunning() {
  {
    const std::scoped_lock lock(mutex_);
    if (state_ == core::RunState::kWaiting) state_ = core::RunState::kRunning;
  }
  Notify();
}

void Run::Finish(RunEnd end, core::TimePoint at) {
  auto kept = std::make_shared<const RunEnd>(std::move(end));
  {
    const std::scoped_lock lock(mutex_);
    state_ = kept->state;
    end_ = std::move(kept);
    ended_at_ = at;
  }
  ended_.notify_all();
  Notify();
}

}  // namespace skerry::engine
