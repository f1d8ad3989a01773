// A person's Python environments, whatever their names: a pyvenv.cfg marks one.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "workspace/overlay_changes.hpp"

namespace skerry::engine {

// Editors and activated shells start the programs of an environment by themselves. The programs of an environment that
// was there before the run stay as they are. A new environment is the run's work, unless the table of protected paths
// has its name. The descriptors are borrowed: the directory as the program left it, and as it was.
class Environments {
 public:
  Environments(int merged, int lower) : merged_(merged), lower_(lower) {}

  // Empty, or why the change is refused. Deleting a program runs nothing; but the file that marks the environment goes
  // only with its directory, or the next run would find no environment.
  [[nodiscard]] std::string Refuses(const workspace::Change& change);

 private:
  // Remembers its first answer: a commit asks about everything before it writes.
  bool WasThere(std::string_view directory);

  int merged_;
  int lower_;
  std::map<std::string, bool, std::less<>> were_there_;  // by path
};

}  // namespace skerry::engine
