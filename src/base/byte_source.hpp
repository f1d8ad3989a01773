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

  // At least one byte, or 0 at the end. `buffer` is not empty.
  virtual Result<std::size_t> Read(std::span<char> buffer) = 0;
};

}  // namespace skerry::base
