#include "cli/context_sink.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <utility>

#include "cli/context_frames.hpp"
#include "json/execution_json.hpp"

namespace skerry::cli {
namespace {

constexpr std::chrono::milliseconds kPatienceAfterStop{500};  // less than a cell has to heed an interrupt
constexpr std::size_t kMaxPendingBytes = std::size_t{8} << 20U;

}  // namespace

void ContextSink::Wake::operator()() const {
  (void)::eventfd_write(fd, 1);
}

ContextSink::ContextSink(int socket, std::stop_source stop)
    : socket_(socket),
      stop_(std::move(stop)),
      stopped_(::eventfd(0, EFD_CLOEXEC)),
      wake_(stop_.get_token(), Wake{stopped_.get()}) {}

core::SinkAnswer ContextSink::Write(core::Stream stream, std::string_view bytes, base::Deadline deadline) {
  if (!gone_ && pending_.size() < kMaxPendingBytes) {
    const std::string name = stream == core::Stream::kStdout ? "stdout" : "stderr";
    pending_ += FrameOf(R"({"stream":")" + name + R"(","data_base64":")" + json::Base64(bytes) + R"("})");
    Send(deadline);
  }
  return {.accepted = bytes.size()};
}

bool ContextSink::Finish(base::Deadline deadline) {
  // The cell has ended, and nothing is held up any longer.
  after_stop_ = base::Deadline::Never();
  Send(deadline);
  return !gone_ && pending_.empty();
}

void ContextSink::Send(base::Deadline deadline) {
  std::size_t sent = 0;
  while (!gone_ && sent < pending_.size()) {
    const ssize_t count = ::send(socket_, pending_.data() + sent, pending_.size() - sent, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (count > 0) sent += static_cast<std::size_t>(count);
    if (count >= 0 || errno == EINTR) continue;
    gone_ = errno != EAGAIN;
    if (gone_) stop_.request_stop();
    if (!gone_ && !AwaitRoom(deadline)) break;
  }
  pending_.erase(0, sent);
}

bool ContextSink::AwaitRoom(base::Deadline deadline) {
  for (;;) {
    const auto until = deadline.EarlierOf(after_stop_.value_or(deadline));
    std::array entries = {pollfd{socket_, POLLOUT, 0}, pollfd{after_stop_ ? -1 : stopped_.get(), POLLIN, 0}};
    const int ready = ::poll(entries.data(), entries.size(), until.PollTimeoutMs());
    if (entries[0].revents != 0) return true;
    if (entries[1].revents != 0) after_stop_ = base::Deadline::After(kPatienceAfterStop);
    if (ready == 0 && until.Expired()) return false;
  }
}

}  // namespace skerry::cli
