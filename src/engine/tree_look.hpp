// The files that a program could find beside those that its code names: an approval is about all of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>

namespace skerry::engine {

struct TreeBounds {
  std::size_t read_files = 4'096;                       // whose content is read
  std::uint64_t read_bytes = std::uint64_t{64} << 20U;  // of all of them
  std::size_t entries = std::size_t{64} << 10U;         // that are looked at
  std::size_t path_bytes = std::size_t{16} << 20U;      // of all their paths
};

// A directory with all that is below it. Borrowed; may be opened as a path only.
struct Tree {
  std::string_view name;
  int directory = -1;
};

struct TreeLook {
  std::string digest;
  std::string rest;  // why it does not tell the content of everything, for people; "" where it does
};

// Names, kinds, modes, where links lead, and the content of files, small ones first. What is beyond the bounds counts
// by its size, its times and its number: an exchange of it shows, a store through a mapping may not. What is mounted
// below is not looked into. Ends when `stop` is asked for.
TreeLook LookAtTrees(std::span<const Tree> trees, const TreeBounds& bounds, const std::stop_token& stop);

}  // namespace skerry::engine
