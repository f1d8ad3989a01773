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
  std::string rest;  // why the digest does not cover the content of every file, for people; "" where it does
};

// A digest of names, kinds, modes, targets of links, and the content of files, small ones first. Files beyond the
// bounds count by size, times and number: their replacement shows, a store through a mapping may not. Mounts below a
// tree are not entered. Ends when `stop` is asked for.
TreeLook LookAtTrees(std::span<const Tree> trees, const TreeBounds& bounds, const std::stop_token& stop);

}  // namespace skerry::engine
