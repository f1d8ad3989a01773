// Who reads a script that is started by its name.
#pragma once

#include <optional>
#include <string_view>

#include "core/execution.hpp"

namespace skerry::engine {

// The language that its first line names, as the kernel and env(1) read it: without such a line it is the shell's.
// Nothing where that is none that can be analysed, or where the line itself has code.
std::optional<core::Language> ReaderOf(std::string_view script);

}  // namespace skerry::engine
