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
  std::size_t first_operand = 0;  // place of the first operand in the argv, or the argv's size
  std::vector<std::string> code;  // values of options that are code
  bool has_code = false;          // an option whose value is code is given
};

// Reads the options up to the first operand.
Arguments ReadArguments(ShellArgv argv, const OptionSyntax& syntax);

// Whether one of `options`, written with blanks between them, is given: `-f` also inside of `-xf`, `--long` also as
// `--long=x`.
bool HasOption(ShellArgv argv, std::string_view options);
// The value of such an option: of `-o x`, `-ox` or `--output=x`.
std::optional<std::string> ValueOfOption(ShellArgv argv, std::string_view options);
// The values of all such options: up to eight, then a hole for the others.
std::vector<std::string> ValuesOfOption(ShellArgv argv, std::string_view options);

bool ListsWord(std::string_view list, std::string_view word);
bool ListsPrefix(std::string_view list, std::string_view word);
bool ListsPart(std::string_view list, std::string_view word);

struct Unwrapped {
  ShellArgv command;              // what the wrapper runs; empty when it runs nothing
  std::vector<std::string> code;  // code that the wrapper gives to a shell
};
// What a wrapper runs; nothing when it runs no other command: `npm install`, `command -v`.
std::optional<Unwrapped> Unwrap(ShellArgv argv, const ShellWrapper& wrapper);

// Whether the command sets variables, as `read` and `printf -v` do, and which; some of the names may be none.
bool SetsVariables(std::string_view command);
std::vector<std::string> VariablesSetBy(ShellArgv argv);

// An argument like NAME=value.
bool IsAssignment(std::string_view word);

}  // namespace skerry::policy
