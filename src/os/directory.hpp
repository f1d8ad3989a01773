// An open listing of a directory that closes itself.
#pragma once

#include <dirent.h>

#include <memory>
#include <string_view>

namespace skerry::os {

struct CloseDirectory {
  void operator()(DIR* directory) const { ::closedir(directory); }
};
using Directory = std::unique_ptr<DIR, CloseDirectory>;

// The entries that every directory has.
inline bool IsDots(std::string_view name) {
  return name == "." || name == "..";
}

}  // namespace skerry::os
