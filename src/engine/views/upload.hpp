// Upload: bytes that a client sent: in memory, or in a file when there are many.
#pragma once

#include <cstdint>
#include <string_view>

namespace skerry::engine {

// Borrowed.
struct Upload {
  std::string_view bytes;  // when there is no file
  int file = -1;           // seekable, from its beginning
  std::uint64_t size = 0;

  [[nodiscard]] bool IsFile() const { return file >= 0; }
};

}  // namespace skerry::engine
