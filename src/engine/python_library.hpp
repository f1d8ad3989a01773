// The modules of Python's own library, whose names files of a workspace can take over.
#pragma once

#include <string_view>

namespace skerry::engine {

// Whether modules of the library would find a module of that name in the directory where the program's own modules are
// found first. Modules that Python loads before it knows that directory are not among them.
bool IsPythonLibrary(std::string_view module);

}  // namespace skerry::engine
