// What a program is given to read: a file that is there whole, or what comes while it runs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace skerry::engine {

struct RunInput {
  bool known = true;  // false: it comes while it runs, or is too large to be looked at
  std::uint64_t bytes = 0;
  std::string sha256;  // "" for none
};

// Of what is read from `fd`; -1 for nothing.
RunInput InputOf(int fd);
// The input itself, where it is known and not larger than this.
std::optional<std::string> TextOfInput(int fd, std::size_t most);

}  // namespace skerry::engine
