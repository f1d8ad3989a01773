#include "runner/input_feed.hpp"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <utility>

namespace skerry::runner {
namespace {

constexpr std::size_t kChunk = 65536;

}  // namespace

// Somebody else may read from the same pipe, terminal or socket and take what poll has told us of; reading must not
// wait then. The flag for that belongs to everybody who has the descriptor, so pipes and terminals are opened anew.
InputFeed::InputFeed(int source, base::UniqueFd sink, std::string farewell)
    : source_(source), sink_(std::move(sink)), farewell_(std::move(farewell)) {
  struct stat facts{};
  if (source_ < 0 || ::fstat(source_, &facts) < 0) {
    EndSource();
    return;
  }
  if (S_ISSOCK(facts.st_mode)) manner_ = Manner::kSocket;
  if (!S_ISFIFO(facts.st_mode) && !S_ISCHR(facts.st_mode)) return;
  const std::string path = "/proc/self/fd/" + std::to_string(source_);
  own_source_.Reset(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  if (own_source_.valid()) source_ = own_source_.get();
  if (!own_source_.valid() && S_ISFIFO(facts.st_mode)) manner_ = Manner::kNoWait;
}

void InputFeed::EndSource() {
  source_ = -1;
  pending_ = std::exchange(farewell_, "");
  if (pending_.empty()) sink_.Reset();
}

ssize_t InputFeed::ReadInto(std::span<char> buffer) const {
  if (manner_ == Manner::kSocket) return ::recv(source_, buffer.data(), buffer.size(), MSG_DONTWAIT);
  if (manner_ == Manner::kNoWait) {
    const iovec part{buffer.data(), buffer.size()};
    const ssize_t count = ::preadv2(source_, &part, 1, -1, RWF_NOWAIT);
    if (count >= 0 || errno != EOPNOTSUPP) return count;
  }
  return ::read(source_, buffer.data(), buffer.size());
}

void InputFeed::Read() {
  std::array<char, kChunk> buffer{};
  const ssize_t count = ReadInto(buffer);
  if (count > 0) {
    pending_.assign(buffer.data(), static_cast<std::size_t>(count));
  } else if (count == 0 || (errno != EINTR && errno != EAGAIN)) {
    EndSource();
  }
}

void InputFeed::Write() {
  const ssize_t count = ::write(sink_.get(), pending_.data(), pending_.size());
  if (count > 0) {
    pending_.erase(0, static_cast<std::size_t>(count));
    if (pending_.empty() && source_ < 0) sink_.Reset();
  } else if (errno != EINTR && errno != EAGAIN) {
    sink_.Reset();  // nobody reads: the program closed its stdin or has ended
  }
}

}  // namespace skerry::runner
