#include "archive/byte_source.hpp"

#include <unistd.h>

#include <algorithm>

#include "os/errno_error.hpp"

namespace skerry::archive {

base::Result<std::size_t> ReadFull(ByteSource& source, std::span<char> buffer) {
  std::size_t filled = 0;
  while (filled < buffer.size()) {
    SKERRY_ASSIGN_OR_RETURN(const std::size_t count, source.Read(buffer.subspan(filled)));
    if (count == 0) break;
    filled += count;
  }
  return filled;
}

base::Result<std::size_t> FileSource::Read(std::span<char> buffer) {
  for (;;) {
    const ssize_t count = ::read(fd_, buffer.data(), buffer.size());
    if (count >= 0) return static_cast<std::size_t>(count);
    if (errno != EINTR) return os::ErrnoErr("read the archive");
  }
}

base::Result<std::size_t> RangeSource::Read(std::span<char> buffer) {
  const std::size_t wanted = static_cast<std::size_t>(std::min<std::uint64_t>(buffer.size(), left_));
  if (wanted == 0) return 0;
  for (;;) {
    const ssize_t count = ::pread(fd_, buffer.data(), wanted, static_cast<off_t>(offset_));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return os::ErrnoErr("read the archive");
    offset_ += static_cast<std::uint64_t>(count);
    left_ -= static_cast<std::uint64_t>(count);
    return static_cast<std::size_t>(count);
  }
}

base::Result<std::size_t> MemorySource::Read(std::span<char> buffer) {
  const std::size_t count = std::min(buffer.size(), bytes_.size());
  std::copy_n(bytes_.begin(), count, buffer.begin());
  bytes_.remove_prefix(count);
  return count;
}

base::Result<std::size_t> HashingSource::Read(std::span<char> buffer) {
  SKERRY_ASSIGN_OR_RETURN(const std::size_t count, inner_.Read(buffer));
  hash_.Update({buffer.data(), count});
  return count;
}

}  // namespace skerry::archive
