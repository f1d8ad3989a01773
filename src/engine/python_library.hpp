// The modules of Python's own library, whose names files of a workspace can take from it.
#pragma once

#include <string_view>

namespace skerry::engine {

// Whether modules of the library find a module of that name where the program's are found first. Those that are loaded
// before that place is known are not among them.
bool IsPythonLibrary(std::string_view module);

}  // namespace skerry::engine
