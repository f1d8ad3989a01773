// Completion scripts for shells, made from the definitions of the commands.
//
// What the scripts promise: commands at any depth, options, the words of values that have a list, files and
// directories, and the names that a daemon knows, which `skerry completion names` asks for within a second, or else
// offers nothing. Foreign names are never evaluated by the shell.
#pragma once

#include <string>
#include <string_view>

#include "cli/definitions.hpp"

namespace skerry::cli {

std::string BashCompletion(const CommandDefinition& root);
std::string ZshCompletion(const CommandDefinition& root);
std::string FishCompletion(const CommandDefinition& root);

// The argument for `skerry completion names`; "" where the daemon has no such names.
std::string_view NamesAskedFor(ValueKind kind);

// Quoted for bash and zsh, in single quotes.
std::string ShellQuoted(std::string_view text);

}  // namespace skerry::cli
