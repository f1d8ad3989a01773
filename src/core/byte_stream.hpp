// ByteStream: a connection to a program inside a sandbox, as bytes in both directions.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "base/deadline.hpp"
#include "base/result.hpp"

namespace skerry::core {

// One thread may read while another writes; Close may be called by any thread at any time, also twice. The destructor
// closes it and does not wait.
class ByteStream {
 public:
  ByteStream() = default;
  ByteStream(const ByteStream&) = delete;
  ByteStream& operator=(const ByteStream&) = delete;
  virtual ~ByteStream() = default;

  // Gives the bytes that have arrived, at least one; 0 when the other end has closed its side. kTimeout: nothing came
  // until the deadline, and reading may go on. Any other error is the end.
  virtual base::Result<std::size_t> Read(std::span<char> room, base::Deadline deadline) = 0;
  // Writes all bytes. After an error, kTimeout too, it is unknown how many were taken, and the stream is of no use.
  virtual base::Status Write(std::string_view bytes, base::Deadline deadline) = 0;
  // Tells the other end that nothing more will be written; reading goes on. Does not wait.
  virtual base::Status CloseWrite() = 0;
  // A Read or Write that waits returns an error soon, and so does every later one. Does not wait.
  virtual void Close() = 0;

  // A connected stream socket that carries these bytes and nothing else, or -1. Borrowed. A caller that uses it reads
  // and writes there and calls neither Read nor Write any more, so that no thread has to wait.
  [[nodiscard]] virtual int fd() const { return -1; }
};

}  // namespace skerry::core
