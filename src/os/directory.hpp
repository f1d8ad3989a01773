// An open listing of a directory that closes itself.
#pragma once

#include <dirent.h>
#include <fcntl.h>

#include <memory>
#include <string_view>

#include "base/unique_fd.hpp"

namespace skerry::os {

struct CloseDirectory {
  void operator()(DIR* directory) const { ::closedir(directory); }
};
using Directory = std::unique_ptr<DIR, CloseDirectory>;

// Takes over an open directory. Null, and errno, when it cannot be listed.
inline Directory ListingOf(base::UniqueFd directory) {
  if (!directory.valid()) return nullptr;
  Directory listing(::fdopendir(directory.get()));
  if (listing != nullptr) (void)directory.Release();
  return listing;
}

// The entries that every directory has.
inline bool IsDots(std::string_view name) {
  return name == "." || name == "..";
}

// False also for a directory that cannot be listed.
inline bool IsEmptyDirectory(int directory) {
  const Directory listing = ListingOf(base::UniqueFd(::openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)));
  if (listing == nullptr) return false;
  while (const dirent* entry = ::readdir(listing.get()))
    if (!IsDots(entry->d_name)) return false;
  return true;
}

}  // namespace skerry::os
