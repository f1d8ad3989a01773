// Small files and links, read and written whole.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "base/unique_fd.hpp"

namespace skerry::os {

// At most `limit` bytes; a larger file is kTooLarge. Works for /proc and /sys, whose sizes are 0.
base::Result<std::string> ReadFile(const std::string& path, std::size_t limit);
base::Result<std::string> ReadAll(int fd, std::size_t limit);

// For control files of the kernel: one open, one write, no creation.
base::Status WriteControlFile(const std::string& path, std::string_view text);

// Where a symbolic link points to. kInvalidArgument for what is no link.
base::Result<std::string> ReadLink(int directory, const std::string& name);

base::Status WriteAll(int fd, std::string_view bytes);

// An anonymous file that holds `bytes` and can never be changed again: what was approved is what is read.
base::Result<base::UniqueFd> SealedMemory(std::string_view bytes);

// A file in `directory` that has no name and is gone with its last descriptor; for reading and writing.
base::Result<base::UniqueFd> NamelessFile(const std::string& directory);

// Whether files in memory take attributes of the `user.` kind, which an overlay needs to replace directories.
bool TmpfsHasUserAttributes();

}  // namespace skerry::os
