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

// Makes it as it was before the commit, step by step from the last to the first. May be begun again after a kill.
// Directories that are missing for something that comes back are made. What somebody put in the place of something that
// the commit made stays or goes as `later` says; what is in the place of something that comes back goes. Gives every
// file that is different now.
base::Result<std::vector<core::FileChange>> TakeBack(const Journal& journal, int directory, int root, LaterWork later);

}  // namespace skerry::workspace
