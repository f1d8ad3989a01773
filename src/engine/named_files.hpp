// The files of a workspace that a piece of code names: what runs depends on them as much as on the code.
#pragma once

#include <map>
#include <string>
#include <string_view>

namespace skerry::engine {

// Path and digest of each, in order. Words of the code that are the path of a regular file below `workspace` count,
// with and without the endings that an import leaves out, and so do the files that those files name. At most 256 files;
// of one larger than 64 MB the size and the time of its last change stand for its content.
std::map<std::string, std::string> NamedFiles(std::string_view code, int workspace);

}  // namespace skerry::engine
