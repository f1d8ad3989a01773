// Bytes that are read once, front to back: a file, a connection, what comes out of a decompressor, a buffer.
#pragma once

#include <cstddef>
#include <span>

#include "base/result.hpp"

namespace skerry::base {

class ByteSource {
 public:
  ByteSource() = default;
  ByteSource(const ByteSource&) = delete;
  ByteSource& operator=(const ByteSource&) = delete;
  virtual ~ByteSource() = default;

  // Reads at least one byte into `buffer`, which is not empty, and gives their number; 0 at the end.
  virtual Result<std::size_t> Read(std::span<char> buffer) = 0;
};

}  // namespace skerry::base
