// Taking back what a commit did, by its journal.
#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"
#include "core/record.hpp"
#include "workspace/change_journal.hpp"

namespace skerry::workspace {

// The paths that are not as the commit left them, so that taking back would lose later work. Sorted. Both descriptors
// are borrowed.
base::Result<std::vector<std::string>> ChangedSince(const Journal& journal, int root);

// Makes the workspace as it was before the commit, step by step from the last to the first. May be begun again after a
// kill. Directories that are missing for something that comes back are made. What a person or a later run put in the
// place of something that the commit made stays or is removed as `later` says; what is in the place of something that
// comes back is removed. Gives every file that is different now.
base::Result<std::vector<core::FileChange>> TakeBack(const Journal& journal, int directory, int root, LaterWork later);

}  // namespace skerry::workspace
