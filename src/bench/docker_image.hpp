// The content of a container image that is made from files of this machine.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace skerry::bench {

// The libraries and the loader that ldd(1) names in its output; empty for a static program.
std::vector<std::string> LibrariesIn(std::string_view ldd_output);

// The shell, true, sleep and, when given, the Python interpreter with its standard library, and the libraries of all of
// them.
std::vector<std::string> ImageFiles(const std::optional<std::string>& python);

}  // namespace skerry::bench
