#include "backends/fake/tiny_process.hpp"

#include <algorithm>
#include <utility>

#include "base/error.hpp"

namespace skerry::backends::fake {
namespace {

// A longer wait would overflow the clock.
std::chrono::nanoseconds Bounded(base::Deadline deadline) {
  constexpr std::chrono::nanoseconds kLongest = std::chrono::hours(1);
  return std::min<std::chrono::nanoseconds>(deadline.Remaining(), kLongest);
}

}  // namespace

base::Result<std::size_t> TinyInput::Feed(std::string_view bytes) {
  const std::scoped_lock lock(mutex_);
  if (closed_ || ended_) return base::Err(base::Code::kConflict, "the program takes no input");
  const std::string_view fitting = bytes.substr(0, kMost - std::min(kMost, pending_.size()));
  pending_ += fitting;
  changed_.notify_all();
  return fitting.size();
}

base::Status TinyInput::Close() {
  const std::scoped_lock lock(mutex_);
  if (closed_ || ended_) return base::Err(base::Code::kConflict, "the input is closed already");
  closed_ = true;
  changed_.notify_all();
  return {};
}

std::optional<std::string> TinyInput::Take(base::Deadline deadline) {
  std::unique_lock lock(mutex_);
  if (!changed_.wait_for(lock, Bounded(deadline), [&] { return closed_ || !pending_.empty(); })) return std::nullopt;
  std::string bytes = std::exchange(pending_, "");
  changed_.notify_all();
  return bytes;
}

bool TinyInput::AwaitRoom(base::Deadline deadline) {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, Bounded(deadline), [&] { return closed_ || ended_ || pending_.size() < kMost; });
}

void TinyInput::End() {
  const std::scoped_lock lock(mutex_);
  ended_ = true;
  changed_.notify_all();
}

void TinyOutput::Write(core::Stream stream, std::string_view bytes) {
  total_ += bytes.size();
  const std::string_view fitting = bytes.substr(0, room_);
  truncated_ = truncated_ || fitting.size() < bytes.size();
  room_ -= fitting.size();
  if (!fitting.empty()) (void)sink_.Write(stream, fitting, base::Deadline::Never());
}

core::CommandResult TinyOutput::Finish(const core::Outcome& outcome) const {
  return {.outcome = outcome, .output_truncated = truncated_, .output_bytes = total_};
}

}  // namespace skerry::backends::fake
