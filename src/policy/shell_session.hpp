// What earlier commands of a script did, as far as later ones depend on it.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "policy/budget.hpp"
#include "policy/shell_flow.hpp"

namespace skerry::policy {

struct ShellSession {
  explicit ShellSession(Budget& budget) : memory(budget) {}

  HeldMemory memory;                       // what is kept here
  std::string directory;                   // the current directory; empty when it is not known
  std::vector<std::string> places;         // where the script has been before: a `cd` may fail, or be taken back
  bool has_more_places = false;            // there are more places than are kept, or one that cannot be known
  std::map<std::string, ShellFlow> files;  // contents of files that the script wrote, by their plain paths
  bool has_unknown_download = false;       // the script downloads into a file whose name is not known
  std::set<std::string, std::less<>> functions;
  std::map<std::string, std::string, std::less<>> aliases;
  std::map<std::string, ShellFlow, std::less<>> outputs;  // of functions that download or decode
  std::set<std::string, std::less<>> readers;             // functions that run what they read
  std::map<std::string, ShellFlow, std::less<>>
      descriptors;  // descriptors that `exec` opened for reading, by their numbers
};

}  // namespace skerry::policy
