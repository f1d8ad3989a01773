// The file of the record: only its owner may read and write it, and a file of another user is never used.
#pragma once

#include <string>

#include "base/result.hpp"

namespace skerry::store {

// Makes the file, empty and for its owner only, unless it is there. Its directory must be there. Refuses, with
// kUnavailable and a line that says what to do: a symbolic link, anything but a file, a file with a second name, a file
// of another user, a file that other users may write; a directory of another user than root, or one that every user may
// write. Gives the absolute path without symbolic links.
base::Result<std::string> PrepareRecordFile(const std::string& path);

}  // namespace skerry::store
