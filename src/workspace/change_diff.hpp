// What changed, as a person reads it: a unified diff for text, sizes and hashes for the rest.
#pragma once

#include <string>

#include "base/result.hpp"
#include "workspace/change_journal.hpp"
#include "workspace/commit.hpp"

namespace skerry::workspace {

// The diff of what a commit would do. Both layers are borrowed.
std::string DiffOfLayers(const CommitReport& report, int upper, int lower);

// The diff of what a commit did: from what its journal keeps in `directory` to what is in the workspace now.
std::string DiffOfJournal(const Journal& journal, int directory, int root);

}  // namespace skerry::workspace
