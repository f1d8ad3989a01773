// The name of an archive's entry, taken apart and checked. No disk is touched.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace skerry::archive {

inline constexpr std::size_t kMaxPathBytes = 4095;
inline constexpr std::size_t kMaxNameBytes = 255;
inline constexpr std::size_t kMaxDepth = 255;

// A path relative to the top of the tree. No part of it is "", "." or "..".
struct EntryPath {
  std::string parent;  // "" is the top
  std::string name;    // "" is the top itself

  [[nodiscard]] std::string Joined() const { return parent.empty() ? name : parent + "/" + name; }
};

// Drops "./" and "/" at the front and doubled slashes. A ".." anywhere is kPathTraversal; too long or too deep a path
// is kTooLarge; an empty one or one with a NUL is kInvalidArgument.
base::Result<EntryPath> ParseEntryPath(std::string_view text);

// 'name', short and printable, for messages.
std::string QuotedPath(std::string_view text);

}  // namespace skerry::archive
