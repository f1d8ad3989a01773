// Files of a directory that match a person's patterns.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/glob.hpp"
#include "base/result.hpp"

namespace skerry::workspace {

struct FindLimits {
  std::size_t max_found = 1000;
  std::size_t max_looked_at = 500'000;
  std::size_t max_depth = 64;
};

// The topmost matches below `directory`, which is borrowed; relative. Links are not followed. kTooLarge at a limit: a
// list that may lack something protects nothing.
base::Result<std::vector<std::string>> FindPaths(int directory, const base::PathPatterns& patterns,
                                                 const FindLimits& limits = {});

}  // namespace skerry::workspace
