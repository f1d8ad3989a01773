// Which lines differ between two sequences of lines. Pure.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

namespace skerry::text {

// Lines of `before` that `after` has not, and lines of `after` that stand in their place. Either may be none.
struct ChangedRun {
  std::size_t before = 0;  // the first line of the run; counts from 0
  std::size_t before_count = 0;
  std::size_t after = 0;
  std::size_t after_count = 0;

  bool operator==(const ChangedRun&) const = default;
};

// The runs in which the two differ, in order; at least one common line is between two runs. The runs have as few lines
// as possible (Myers, O(ND), in linear space), as long as that takes no more than `max_work` steps; a part that is not
// searched by then is one run.
std::vector<ChangedRun> DiffLines(const std::vector<std::string_view>& before,
                                  const std::vector<std::string_view>& after, std::size_t max_work);

}  // namespace skerry::text
