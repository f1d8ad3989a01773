#include "runner/input_feed.hpp"

#include <unistd.h>

#include <array>
#include <cerrno>

namespace skerry::runner {

void InputFeed::Read() {
  std::array<char, 65536> buffer{};
  const ssize_t count = ::read(source_, buffer.data(), buffer.size());
  if (count > 0) {
    pending_.assign(buffer.data(), static_cast<std::size_t>(count));
  } else if (count == 0 || (errno != EINTR && errno != EAGAIN)) {
    sink_.Reset();
  }
}

void InputFeed::Write() {
  const ssize_t count = ::write(sink_.get(), pending_.data(), pending_.size());
  if (count > 0) {
    pending_.erase(0, static_cast<std::size_t>(count));
  } else if (errno != EINTR && errno != EAGAIN) {
    sink_.Reset();  // nobody reads: the program closed its stdin or has ended
  }
}

}  // namespace skerry::runner
