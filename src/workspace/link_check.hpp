// Whether a symbolic link stays in the directory that it is made in.
#pragma once

#include <string>
#include <string_view>

namespace skerry::workspace {

// By its words: empty, or why a link at `path` to `target` is refused. A relative target may climb to the root of the
// workspace and go down from there; an absolute one may name a program of the system, as Python's environments do.
std::string LinkObstacle(std::string_view path, std::string_view target);

// By following it: empty, or why the link that is at `path` below `root` has to go. One whose end is missing may stay.
std::string FollowedLinkObstacle(int root, const std::string& path);

}  // namespace skerry::workspace
