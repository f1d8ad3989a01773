// Reading the arguments of a command by what the tables say of its options.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "policy/shell_rules.hpp"

namespace skerry::policy {

using ShellArgv = std::span<const std::string>;

struct OptionSyntax {
  std::string_view value_letters;
  std::string_view value_options;
  std::string_view code_letters;
  std::string_view code_options;
  enum class Code : std::uint8_t { kValue, kFirstOperand } code = Code::kValue;  // a shell's -c says what operand is
};

struct Arguments {
  std::size_t first_operand = 0;  // its place in the argv, or the argv's size
  std::vector<std::string> code;  // values of options that are code
  bool has_code = false;          // such an option is given
};

// Options up to the first operand.
Arguments ReadArguments(ShellArgv argv, const OptionSyntax& syntax);

// One of the options, written with blanks between them: `-f` also inside of `-xf`, `--long` also as `--long=x`.
bool HasOption(ShellArgv argv, std::string_view options);
// The same, and its value: of `-o x`, `-ox` or `--output=x`.
std::optional<std::string> ValueOfOption(ShellArgv argv, std::string_view options);
// The values of all of them: up to eight, then a hole for the others.
std::vector<std::string> ValuesOfOption(ShellArgv argv, std::string_view options);

bool ListsWord(std::string_view list, std::string_view word);
bool ListsPrefix(std::string_view list, std::string_view word);
bool ListsPart(std::string_view list, std::string_view word);

struct Unwrapped {
  ShellArgv command;              // what the wrapper runs; empty when that is nothing
  std::vector<std::string> code;  // what it gives to a shell
};
// Nothing when it runs nothing else: `npm install`, `command -v`.
std::optional<Unwrapped> Unwrap(ShellArgv argv, const ShellWrapper& wrapper);

// `read`, `printf -v` and their kin. Of the variables that they set, some may be none.
bool SetsVariables(std::string_view command);
std::vector<std::string> VariablesSetBy(ShellArgv argv);

// An argument like NAME=value.
bool IsAssignment(std::string_view word);

}  // namespace skerry::policy
