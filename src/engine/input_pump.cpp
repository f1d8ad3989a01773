#include "engine/input_pump.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <string>
#include <utility>
#include <vector>

namespace skerry::engine {
namespace {

constexpr std::size_t kChunk = 65536;
constexpr std::chrono::milliseconds kBetweenLooks{100};

}  // namespace

// Another process may read from the same pipe, terminal or socket and take the bytes that poll has announced; reading
// must not block then. The flag for that is shared by all holders of the descriptor, so pipes and terminals are opened
// anew.
InputPump::InputPump(int source, Target target)
    : source_(source), target_(std::move(target)), ending_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  struct stat facts{};
  if (source_ >= 0 && ::fstat(source_, &facts) < 0) source_ = -1;
  is_socket_ = S_ISSOCK(facts.st_mode);
  if (S_ISFIFO(facts.st_mode) || S_ISCHR(facts.st_mode)) {
    const std::string path = "/proc/self/fd/" + std::to_string(source_);
    own_source_.Reset(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
    waits_ = !own_source_.valid() && S_ISFIFO(facts.st_mode);
    if (own_source_.valid()) source_ = own_source_.get();
  }
  thread_ = std::jthread([this](const std::stop_token& stop) { Work(stop); });
}

InputPump::~InputPump() {
  thread_.request_stop();
  (void)::eventfd_write(ending_.get(), 1);
}

void InputPump::Work(const std::stop_token& stop) const {
  std::vector<char> buffer(kChunk);
  const auto read = [&]() -> ssize_t {
    if (source_ < 0) return 0;
    if (is_socket_) return ::recv(source_, buffer.data(), buffer.size(), MSG_DONTWAIT);
    if (waits_) {
      const iovec part{buffer.data(), buffer.size()};
      const ssize_t count = ::preadv2(source_, &part, 1, -1, RWF_NOWAIT);
      if (count >= 0 || errno != EOPNOTSUPP) return count;
    }
    return ::read(source_, buffer.data(), buffer.size());
  };
  while (!stop.stop_requested()) {
    std::array entries = {pollfd{source_, POLLIN, 0}, pollfd{ending_.get(), POLLIN, 0}};
    if (source_ >= 0 && ::poll(entries.data(), entries.size(), -1) < 0 && errno != EINTR) return;
    if (stop.stop_requested()) return;
    const ssize_t count = read();
    if (count < 0 && (errno == EAGAIN || errno == EINTR)) continue;
    if (count <= 0) break;
    std::string_view left(buffer.data(), static_cast<std::size_t>(count));
    while (!left.empty() && !stop.stop_requested()) {
      const auto taken = target_.feed(left);
      if (!taken) return;
      left.remove_prefix(*taken);
      if (!left.empty()) (void)target_.await_room(base::Deadline::After(kBetweenLooks));
    }
  }
  while (!stop.stop_requested()) {
    const auto closed = target_.close();
    if (closed || closed.error().code != base::Code::kUnavailable) return;
    (void)target_.await_room(base::Deadline::After(kBetweenLooks));
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

}  // namespace skerry::engine
