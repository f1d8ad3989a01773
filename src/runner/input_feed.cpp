#include "runner/input_feed.hpp"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <thread>
#include <utility>

namespace skerry::runner {
namespace {

std::unexpected<base::Error> NoInput() {
  return base::Err(base::Code::kConflict, "the program takes no input: it was closed, or nobody reads it");
}

// How many bytes the pipe took; -1 when its other end is closed.
ssize_t WriteSome(int sink, std::string_view bytes) {
  for (;;) {
    const ssize_t count = ::write(sink, bytes.data(), bytes.size());
    if (count >= 0) return count;
    if (errno == EAGAIN) return 0;
    if (errno != EINTR) return -1;
  }
}

}  // namespace

InputFeed::InputFeed(std::string text, core::InputEnd end, base::UniqueFd sink, std::string farewell)
    : sink_(std::move(sink)),
      pending_(std::move(text)),
      closing_(end == core::InputEnd::kClosed),
      farewell_(std::move(farewell)) {
  EndText();
}

void InputFeed::EndText() {
  if (!pending_.empty() || !closing_) return;
  pending_ = std::exchange(farewell_, "");
  if (pending_.empty()) sink_.Reset();
}

int InputFeed::WantsWrite() const {
  const std::scoped_lock lock(mutex_);
  return pending_.empty() ? -1 : sink_.get();
}

void InputFeed::Write() {
  const std::scoped_lock lock(mutex_);
  const ssize_t count = WriteSome(sink_.get(), pending_);
  if (count < 0) {
    sink_.Reset();  // the program closed its input or has ended
    pending_.clear();
    return;
  }
  pending_.erase(0, static_cast<std::size_t>(count));
  EndText();
}

base::Result<std::size_t> InputFeed::Feed(std::string_view bytes) {
  const std::scoped_lock lock(mutex_);
  if (!sink_.valid() || closing_) return NoInput();
  if (!pending_.empty()) return 0;
  std::size_t taken = 0;
  while (taken < bytes.size()) {
    const ssize_t count = WriteSome(sink_.get(), bytes.substr(taken));
    if (count < 0) {
      sink_.Reset();
      return NoInput();
    }
    if (count == 0) break;
    taken += static_cast<std::size_t>(count);
  }
  return taken;
}

bool InputFeed::AwaitRoom(base::Deadline deadline) const {
  constexpr std::chrono::milliseconds kPumpTakes{1};
  base::UniqueFd sink;
  bool pump_first = false;
  {
    const std::scoped_lock lock(mutex_);
    if (!sink_.valid()) return true;
    pump_first = !pending_.empty();
    sink.Reset(::fcntl(sink_.get(), F_DUPFD_CLOEXEC, 0));
  }
  pollfd entry{sink.get(), POLLOUT, 0};
  const bool room = ::poll(&entry, 1, deadline.PollTimeoutMs()) > 0;
  if (room && pump_first) std::this_thread::sleep_for(kPumpTakes);
  return room;
}

base::Status InputFeed::Close() {
  const std::scoped_lock lock(mutex_);
  if (!sink_.valid() || closing_) return NoInput();
  if (pending_.empty() && !farewell_.empty()) {
    const ssize_t count = WriteSome(sink_.get(), farewell_);
    if (count == 0) return base::Err(base::Code::kUnavailable, "the terminal has no room for the end of the input");
    farewell_.clear();
  }
  closing_ = true;
  EndText();
  return {};
}

}  // namespace skerry::runner
