#include "policy/git_index.hpp"

#include <string>

namespace skerry::policy {

bool MayTrackBelow(std::string_view index, std::string_view directory) {
  constexpr std::string_view kSplit = "link";  // the extension that names the other part of the index
  // Versions 2 and 3 hold every path as it is.
  constexpr std::string_view kSecond("DIRC\0\0\0\2", 8);
  constexpr std::string_view kThird("DIRC\0\0\0\3", 8);
  if (!index.starts_with(kSecond) && !index.starts_with(kThird)) return true;
  return index.contains(kSplit) || index.contains(std::string(directory) + '/');
}

}  // namespace skerry::policy
