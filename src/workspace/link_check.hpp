// Whether a symbolic link stays in the directory that it is made in.
#pragma once

#include <string>
#include <string_view>

namespace skerry::workspace {

// Whose workspace it is.
enum class LinkRule {
  kPersons,  // other programs follow links there: only what cannot lead out by any change of other names
  kOwn,      // Skerry's own: only Resolver follows links there, and programs inside, which see it as /workspace
};

// Judges a link by its text: empty, or why a link at `path` to `target` is refused. In a person's directory a relative
// target may climb to the root of the workspace and go down from there; an absolute one may name a program of the
// system, as Python's environments do. In a workspace of Skerry's own any path that stays inside is allowed, also one
// below /workspace.
std::string LinkObstacle(std::string_view path, std::string_view target, LinkRule rule);

// Judges a link by following it: empty, or why the link that is at `path` below `root` has to be removed. A link whose
// end is missing may stay.
std::string FollowedLinkObstacle(int root, const std::string& path, LinkRule rule);

}  // namespace skerry::workspace
