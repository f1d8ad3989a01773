// A person's Python environments, whatever their names: a pyvenv.cfg marks one.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "workspace/overlay_changes.hpp"

namespace skerry::engine {

// Editors and activated shells start the programs of an environment by themselves. In one that was there before a run
// they stay as they are. A new one is the work, unless the table of protected paths knows its name. The descriptors are
// borrowed: the directory as the program left it, and as it was.
class Environments {
 public:
  Environments(int merged, int lower) : merged_(merged), lower_(lower) {}

  // Empty, or why the change is refused. To take a program away runs nothing; but what marks the environment goes only
  // with its directory, or the next run would find none.
  [[nodiscard]] std::string Refuses(const workspace::Change& change);

 private:
  // As it was when it was first asked for: a commit asks for everything before it writes.
  bool WasThere(std::string_view directory);

  int merged_;
  int lower_;
  std::map<std::string, bool, std::less<>> were_there_;  // by path
};

}  // namespace skerry::engine
