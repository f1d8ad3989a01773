// What a killed commit leaves in a person's directory: files beside their place that never got there. Their names are
// written down first, in a directory of Skerry's own, and the next commit removes them.
#pragma once

#include <string>

#include "base/result.hpp"
#include "base/unique_fd.hpp"
#include "workspace/commit_journal.hpp"

namespace skerry::workspace {

// The names of one commit. The list is made with the first name and removed at the end.
class LeftoverList : public CommitJournal {
 public:
  // `lists` is the path of the directory for such lists; made where it is missing. `root` is the person's directory,
  // borrowed.
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

// Removes the files that the lists of dead processes name, and the lists. Other files, and directories that are not the
// same any more, are left alone.
void SweepLeftovers(const std::string& lists);

}  // namespace skerry::workspace
