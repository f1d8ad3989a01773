// Who else writes to a file.
#pragma once

namespace skerry::os {

// Whether somebody has the file open for writing, or mapped so that stores change it. Also true where the kernel does
// not tell. `fd` is open for reading only.
bool MayHaveWriters(int fd);

}  // namespace skerry::os
