// JSON with comments, read strictly: no duplicate keys, no deep nesting, nothing after the end.
#pragma once

#include <cstddef>
#include <string_view>

#include "base/result.hpp"
#include "config/schema.hpp"

namespace skerry::config {

inline constexpr std::size_t kMaxDepth = 32;

// The document of a text. A syntax error names line and column and never quotes the text, which may be half of a
// secret. A byte order mark is skipped.
base::Result<Json> ParseDocument(std::string_view text);

}  // namespace skerry::config
