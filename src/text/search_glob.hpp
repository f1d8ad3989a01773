// The pattern that says which files are searched.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/glob.hpp"
#include "base/result.hpp"

namespace skerry::text {

// A pattern of base/glob.hpp, with {a,b} for one or the other, also nested. A pattern without a slash is a name at any
// depth.
class SearchGlob {
 public:
  // kPathTraversal for what is absolute or has "..", kInvalidArgument for what is malformed or stands for more than 256
  // patterns. "" matches everything.
  static base::Result<SearchGlob> Make(std::string_view glob);

  [[nodiscard]] bool Matches(std::string_view path) const;
  // False only when nothing below this directory can match.
  [[nodiscard]] bool MayMatchBelow(std::string_view directory) const;

 private:
  std::vector<std::string> patterns_;  // none: everything matches
  base::PathPatterns below_;
};

}  // namespace skerry::text
