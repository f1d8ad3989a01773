// Where git fetches from and pushes to, by its configuration. A run must not change that in a repository that was
// there: the person's next push must not go elsewhere.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace skerry::policy {

enum class ConfigPart {
  kWhole,   // a repository's own file, which says where its branches go
  kBeside,  // a file that git reads besides it: one that is included, that of a worktree
};

// The keys by which `text` leads git elsewhere than `before` did, the file as it was. What is taken away can do so as
// well as what is added: without its pushurl a remote is pushed to by its url. Remotes, rewritten addresses, included
// files and addresses of submodules have to be the same. A branch may begin to follow, or stop following, the remote
// that git would use for it anyway, or a branch of the same repository. In a file beside the repository's own that
// cannot be told, and every value has to be the same.
//
// A text that is not understood leads elsewhere, unless it is the old one. Keys are not printable as they are.
std::vector<std::string> RedirectingKeys(std::string_view text, std::string_view before, ConfigPart part);

}  // namespace skerry::policy
