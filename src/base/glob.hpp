// Patterns for paths, as people write them in a configuration file.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace skerry::base {

// True when the whole of `path` matches. Upper and lower case differ; a dot in front is a character like any other.
//   *      any characters of one name               ?     one character of a name
//   [a-z]  one of these; [!a-z]: any but these      \*    the character itself
//   **     as a whole name: any number of directories; at the end: one name or more
// Takes at most the size of the pattern times the size of the path. A malformed pattern matches nothing.
bool GlobMatch(std::string_view pattern, std::string_view path);

// A person's patterns for paths below a workspace's root. Paths are relative and plain: "a/b/c".
//   - A pattern without a slash is a name at any depth. A slash at its end does not count.
//   - One with a slash, or with "./" in front, starts at the root. "." is the root.
//   - What matches a directory covers everything below it.
class PathPatterns {
 public:
  // Refuses what is malformed ('[' without its ']', a range that runs backwards, a class such as [:alpha:], '\' at the
  // end of a name), what is absolute or empty, and "..".
  static Result<PathPatterns> Make(std::span<const std::string> patterns);

  PathPatterns() = default;  // matches nothing

  bool Matches(std::string_view path) const;

  // False only when nothing below this directory can match. "" is the root.
  bool MayMatchBelow(std::string_view path) const;

 private:
  struct Pattern {
    std::string whole;  // from the root
    std::string below;  // the same with "/**"
  };
  std::vector<Pattern> patterns_;
};

}  // namespace skerry::base
