// The file of the record: made for its owner alone, and never somebody else's.
#pragma once

#include <string>

#include "base/result.hpp"

namespace skerry::store {

// Makes the file, empty and for its owner only, unless it is there. Its directory must be there. Refuses, with
// kUnavailable and a line that says what to do: a symbolic link, anything but a file, a file with a second name, one of
// another user, one that others may write; a directory of another user than root, or one that everybody may write.
// Gives the absolute path without symbolic links.
base::Result<std::string> PrepareRecordFile(const std::string& path);

}  // namespace skerry::store
