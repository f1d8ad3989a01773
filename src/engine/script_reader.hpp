// Which interpreter reads a script that is started by its name.
#pragma once

#include <optional>
#include <string_view>

#include "core/execution.hpp"

namespace skerry::engine {

// The language that the script's first line names, as the kernel and env(1) read it; the shell's without such a line.
// Nothing where that language cannot be analysed, or where the line itself holds code.
std::optional<core::Language> ReaderOf(std::string_view script);

}  // namespace skerry::engine
