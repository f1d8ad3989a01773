#include "engine/run.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "os/errno_error.hpp"

namespace skerry::engine {

Run::Run(core::RunRecord record, int log_directory, RunChannels channels, OutputRoom room)
    : record_(std::move(record)),
      log_directory_(log_directory),
      channels_(std::move(channels)),
      is_fed_(channels_.input_end.valid()),
      log_(std::make_unique<OutputLog>(log_directory, record_.id, std::move(room))),
      state_(record_.state) {}

Run::Run(core::RunRecord record, int log_directory, RunEnd end)
    : record_(std::move(record)),
      log_directory_(log_directory),
      is_fed_(false),
      state_(record_.state),
      end_(std::move(end)),
      ended_at_(record_.ended_at) {}

core::RunState Run::state() const {
  const std::scoped_lock lock(mutex_);
  return state_;
}

std::optional<RunEnd> Run::end() const {
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
  return end_ ? end_->output_bytes : 0;
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
  if (!channels_.input_end.valid() || core::IsFinal(state_)) return std::unexpected(NoInput(id()));
  std::size_t taken = 0;
  while (taken < bytes.size()) {
    const ssize_t count = ::write(channels_.input_end.get(), bytes.data() + taken, bytes.size() - taken);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && errno == EAGAIN) break;
    if (count < 0) return std::unexpected(NoInput(id()));
    fed_hash_.Update(bytes.substr(taken, static_cast<std::size_t>(count)));
    fed_bytes_ += static_cast<std::size_t>(count);
    taken += static_cast<std::size_t>(count);
  }
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
  const std::scoped_lock lock(mutex_);
  if (!channels_.input_end.valid()) return std::unexpected(NoInput(id()));
  channels_.input_end.Reset();
  return {};
}

bool Run::AwaitRoom(base::Deadline deadline) const {
  base::UniqueFd pipe;
  {
    const std::scoped_lock lock(mutex_);
    if (!channels_.input_end.valid()) return true;
    pipe.Reset(::dup(channels_.input_end.get()));
  }
  pollfd entry{pipe.get(), POLLOUT, 0};
  return ::poll(&entry, 1, deadline.PollTimeoutMs()) > 0;
}

base::Status Run::Signal(int number) {
  const std::scoped_lock lock(mutex_);
  if (core::IsFinal(state_)) return base::Err(base::Code::kConflict, id() + " has ended");
  if (!channels_.signals_end.valid()) return base::Err(base::Code::kConflict, id() + " takes no signals");
  const auto byte = static_cast<unsigned char>(number);
  if (::write(channels_.signals_end.get(), &byte, 1) != 1) return os::ErrnoErr("signal");
  return {};
}

base::Status Run::Resize(const core::TerminalSize& size) {
  const std::scoped_lock lock(mutex_);
  if (!channels_.terminal) return base::Err(base::Code::kConflict, id() + " has no terminal");
  channels_.terminal = size;
  (void)::eventfd_write(channels_.resized.get(), 1);
  return {};
}

core::TerminalSize Run::terminal_size() const {
  const std::scoped_lock lock(mutex_);
  return channels_.terminal.value_or(core::TerminalSize{});
}

void Run::MarkRunning() {
  {
    const std::scoped_lock lock(mutex_);
    if (state_ == core::RunState::kWaiting) state_ = core::RunState::kRunning;
  }
  Notify();
}

void Run::Finish(RunEnd end, core::TimePoint at) {
  {
    const std::scoped_lock lock(mutex_);
    state_ = end.state;
    end_ = std::move(end);
    ended_at_ = at;
    channels_ = {};
  }
  ended_.notify_all();
  Notify();
}

}  // namespace skerry::engine
