// ByteStream: a connection to something inside a sandbox, as bytes in both directions.
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

  // What is there, at least one byte; 0 when the other end has said that nothing more comes. kTimeout: nothing came
  // until the deadline, and reading may go on. Any other error is the end.
  virtual base::Result<std::size_t> Read(std::span<char> room, base::Deadline deadline) = 0;
  // All of them. After an error, kTimeout too, nobody knows how many were taken, and the stream is of no use.
  virtual base::Status Write(std::string_view bytes, base::Deadline deadline) = 0;
  // Says that nothing more will be written; reading goes on. Does not wait.
  virtual base::Status CloseWrite() = 0;
  // A Read or Write that waits returns an error soon, and so does every later one. Does not wait.
  virtual void Close() = 0;

  // A connected stream socket that carries these bytes and nothing else, or -1. Borrowed. Who takes it reads and writes
  // there, and calls neither Read nor Write any more: no thread has to wait then.
  [[nodiscard]] virtual int fd() const { return -1; }
};

}  // namespace skerry::core
