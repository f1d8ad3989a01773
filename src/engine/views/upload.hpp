// Upload: bytes that a client sent: in memory, or in a file where they are many.
#pragma once

#include <cstdint>
#include <string_view>

namespace skerry::engine {

// Borrowed.
struct Upload {
  std::string_view bytes;  // where there is no file
  int file = -1;           // seekable, from its beginning
  std::uint64_t size = 0;

  [[nodiscard]] bool IsFile() const { return file >= 0; }
};

}  // namespace skerry::engine
