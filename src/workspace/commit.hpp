// Carrying what a sandbox changed from the upper layer of its overlay into the person's real directory.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "core/record.hpp"
#include "workspace/commit_journal.hpp"
#include "workspace/commit_rules.hpp"

namespace skerry::workspace {

// Paths are relative and sorted; their bytes are the program's, so they may be no text. Directories are not listed.
struct CommitReport {
  std::vector<std::string> created;       // files and links where none was
  std::vector<std::string> changed;       // files and links in the place of others
  std::vector<std::string> deleted;       // files and links
  std::vector<Withheld> withheld;         // what was not done, each with its reason; nothing is left out silently
  std::vector<Withheld> to_review;        // what was done and a person should look at, each with its reason
  std::uint64_t bytes = 0;                // written, holes not counted
  bool untouched = false;                 // the layer had nothing new: the directory stays as it was
  std::vector<core::FileChange> changes;  // the same for a record, by path; only with a hash
};

// Both descriptors are borrowed. `upper` is read by the rules of ReadOverlayChanges: the program is dead or frozen.
//
// Promised:
// - no link is followed on either side, no mount point crossed, nothing outside `lower` is touched;
// - a file appears whole or not at all, and other hard links of the one it replaces keep their content;
// - what is new gets permissions but no set-id bits, no attributes, and no owner but that of what it replaces or of
//   the directory it lies in;
// - a link that leads out of the directory is not made, except to a program of the system;
// - deletions come last. They are withheld when a file could not be written for lack of room or by its size: it may be
//   the moved content of what would be deleted;
// - what the host refuses (no space, no right) is in `withheld`, and the rest goes on.
//
// An error: one of the two directories cannot be read at all, and nothing was changed; or the journal could not be
// completed, and what was done has to be taken back with it.
base::Result<CommitReport> Commit(int upper, int lower, CommitRules& rules, const CommitLimits& limits,
                                  CommitJournal& journal);

}  // namespace skerry::workspace
