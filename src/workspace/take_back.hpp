// Taking back what a commit did, by its journal.
#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"
#include "core/record.hpp"
#include "workspace/change_journal.hpp"

namespace skerry::workspace {

// What is not as the commit left it, so that taking back would lose somebody's later work. Sorted.
// Both descriptors are borrowed.
base::Result<std::vector<std::string>> ChangedSince(const Journal& journal, int root);

// Makes it as it was before the commit, step by step from the last to the first. What is not there any more is no
// error. May be begun again after a kill. What was put in the place of something that the commit made stays; what
// was put in the place of something that it replaced or removed goes. Gives every file that is different now.
base::Result<std::vector<core::FileChange>> TakeBack(const Journal& journal, int directory, int root);

}  // namespace skerry::workspace
