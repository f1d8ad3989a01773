// Bytes that are written once, front to back: to a file, a connection, a compressor, a buffer.
#pragma once

#include <string>
#include <string_view>

#include "base/result.hpp"

namespace skerry::archive {

class ByteSink {
 public:
  ByteSink() = default;
  ByteSink(const ByteSink&) = delete;
  ByteSink& operator=(const ByteSink&) = delete;
  virtual ~ByteSink() = default;

  // Writes all of the bytes, or gives an error; after an error nothing more is written.
  virtual base::Status Write(std::string_view bytes) = 0;
};

// Writes to a descriptor, from its present position on. `fd` is borrowed.
class FileSink : public ByteSink {
 public:
  explicit FileSink(int fd) : fd_(fd) {}
  base::Status Write(std::string_view bytes) override;

 private:
  int fd_;
};

class MemorySink : public ByteSink {
 public:
  base::Status Write(std::string_view bytes) override;
  [[nodiscard]] const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

}  // namespace skerry::archive
