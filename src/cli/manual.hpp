// Manual pages in roff, made from the definitions of the commands.
#pragma once

#include <string>
#include <string_view>

#include "cli/definitions.hpp"

namespace skerry::cli {

// The page of one command of `root`, for man(7) of groff and mandoc. ASCII only: other characters are escapes.
std::string ManualPage(const CommandDefinition& command, const CommandDefinition& root, std::string_view version);

// skerry-session-create.1
std::string ManualFileName(const CommandDefinition& command);

// Text that a page shows exactly as it is, at any place of a line and inside of quotes.
std::string RoffEscaped(std::string_view text);

}  // namespace skerry::cli
