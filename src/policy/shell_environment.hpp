// Variables that make programs run code, or look for it elsewhere.
#pragma once

#include <optional>
#include <string_view>

#include "core/execution.hpp"
#include "policy/rule.hpp"

namespace skerry::policy {

// Whether one of the functions below may say something about the variable.
bool IsWatchedVariable(std::string_view variable);

// The rule that assigning this value, which may have marks (shell_words.hpp), to the variable breaks in this directory;
// nullptr when the assignment is harmless.
const Rule* RuleForVariable(std::string_view variable, std::string_view value, std::string_view directory);

// Whether the value is shell code that other programs run: an editor, a pager, a compiler.
bool HoldsCommand(std::string_view variable, std::string_view value);

// A variable that is a list of directories in which code is looked for: modules of the language, or commands for none.
struct SearchVariable {
  std::string_view name;
  std::optional<core::Language> language;
};
const SearchVariable* SearchVariableOf(std::string_view variable);

// Whether an argument of less, or a word of LESS, only says how a text is shown.
bool IsHarmlessForLess(std::string_view word);

extern const Rule kShellEnvironment;
extern const Rule kShellSearchPath;

}  // namespace skerry::policy
