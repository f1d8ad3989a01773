// Whether other processes can write to a file.
#pragma once

namespace skerry::os {

// True when a process has the file open for writing, or mapped so that stores change it, and where the kernel does not
// tell. `fd` is open for reading only.
bool MayHaveWriters(int fd);

}  // namespace skerry::os
