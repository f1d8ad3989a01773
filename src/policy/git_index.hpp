// Which files a repository tracks, by its index.
#pragma once

#include <string_view>

namespace skerry::policy {

// Whether there may be tracked files below a directory of the working tree ("a/b"). True also where that is hard to
// say: paths that are compressed, an index in two parts, a format that is not known.
bool MayTrackBelow(std::string_view index, std::string_view directory);

}  // namespace skerry::policy
