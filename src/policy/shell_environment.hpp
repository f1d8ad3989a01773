// Variables that make programs run code, or look for it elsewhere.
#pragma once

#include <optional>
#include <string_view>

#include "core/execution.hpp"
#include "policy/rule.hpp"

namespace skerry::policy {

// Any of the others may say something of it.
bool IsWatchedVariable(std::string_view variable);

// Of assigning the variable this value, which may have marks (shell_words.hpp), in this directory; nullptr when that is
// harmless.
const Rule* RuleForVariable(std::string_view variable, std::string_view value, std::string_view directory);

// The value is code of the shell that other programs run: an editor, a pager, a compiler.
bool HoldsCommand(std::string_view variable, std::string_view value);

// The variable is a list of directories in which code is looked for: modules of the language, or commands for none.
struct SearchVariable {
  std::string_view name;
  std::optional<core::Language> language;
};
const SearchVariable* SearchVariableOf(std::string_view variable);

// An argument of less, or a word of LESS, that only says how a text is shown.
bool IsHarmlessForLess(std::string_view word);

extern const Rule kShellEnvironment;
extern const Rule kShellSearchPath;

}  // namespace skerry::policy
