// What a commit into a person's directory leaves behind when it is killed: files beside their place that never got
// there. Their names are written down first, in a directory of Skerry's own, and the next one removes them.
#pragma once

#include <string>

#include "base/result.hpp"
#include "base/unique_fd.hpp"
#include "workspace/commit_journal.hpp"

namespace skerry::workspace {

// For one commit. The list is made with the first name and removed at the end.
class LeftoverList : public CommitJournal {
 public:
  // `lists`: path of the directory for such lists; made where it is missing. `root` is the person's, borrowed.
  LeftoverList(std::string lists, int root) : lists_(std::move(lists)), root_(root) {}
  ~LeftoverList() override;

  base::Status BeforePreparing(const std::string& path) override;

 private:
  base::Status Open();

  std::string lists_;
  int root_;
  std::string name_;
  base::UniqueFd file_;
};

// Removes what the lists of dead processes name, and the lists. What is not of this kind, and directories that are not
// the same any more, are left alone.
void SweepLeftovers(const std::string& lists);

}  // namespace skerry::workspace
