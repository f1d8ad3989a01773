// An open listing of a directory that closes itself.
#pragma once

#include <dirent.h>

#include <memory>
#include <string_view>

#include "base/unique_fd.hpp"

namespace skerry::os {

struct CloseDirectory {
  void operator()(DIR* directory) const { ::closedir(directory); }
};
using Directory = std::unique_ptr<DIR, CloseDirectory>;

// Takes an open directory over; nothing, and errno, when it cannot be listed.
inline Directory ListingOf(base::UniqueFd directory) {
  Directory listing(::fdopendir(directory.get()));
  if (listing != nullptr) (void)directory.Release();
  return listing;
}

// The entries that every directory has.
inline bool IsDots(std::string_view name) {
  return name == "." || name == "..";
}

}  // namespace skerry::os
