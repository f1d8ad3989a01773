// From the words of a script to what the shell makes of them: quotes, escapes, variables, braces, substitutions. What
// cannot be known is a mark inside the value: kShellHole, kShellNetwork, kShellDecoded, kShellHome.
#pragma once

#include <bitset>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "policy/budget.hpp"
#include "policy/shell_flow.hpp"
#include "policy/shell_paths.hpp"
#include "policy/shell_session.hpp"

namespace skerry::policy {

// Between the elements of an array, in the value of a variable.
inline constexpr char kShellBreak = '\x05';

// What each variable can hold, wherever it was assigned. Up to eight values; one more is a hole.
class ShellVariables {
 public:
  static constexpr std::size_t kMostValues = 8;
  static constexpr std::size_t kLongestValue = 4096;  // longer ones are holes

  explicit ShellVariables(Budget& budget) : budget_(budget), memory_(budget) {}

  void Assign(std::string_view name, std::string value);
  // Adds `value` behind each value that the variable can hold.
  void Append(std::string_view name, std::string_view value);
  // Shell assignments that give the variables whose names stand behind a `$` in `code` their values again.
  [[nodiscard]] std::string AssignmentsFor(std::string_view code) const;
  // nullptr for a variable that is assigned nowhere.
  [[nodiscard]] const std::vector<std::string>* Find(std::string_view name) const;
  // Fields end at this character, besides blanks: IFS may hold it.
  [[nodiscard]] bool IsSplitter(char c) const { return splitters_.test(static_cast<unsigned char>(c)); }

 private:
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>{}(text); }
  };
  void Keep(std::string_view name, std::vector<std::string>& values, std::string value);

  Budget& budget_;
  HeldMemory memory_;
  std::unordered_map<std::string, std::vector<std::string>, Hash, std::equal_to<>> values_;
  std::size_t longest_ = 1;  // of the table's lists: names can be chosen so that one of them holds all
  std::bitset<256> splitters_;
};

// The work of going through the words of a command.
std::uint64_t WorkOf(ShellArgv argv);

// A shell word, in quotes, that means this text.
std::string InQuotes(std::string_view text);

// Which of the possible values is wanted. Ask for 0, then for all others below `count`.
struct ShellChoice {
  unsigned which = 0;
  unsigned count = 1;
  std::size_t expanded = 0;  // bytes that came from variables, for all words of a command
};

class ShellWords {
 public:
  // `work` is how many bytes may be looked at; everything beyond is a hole. `session` is what the script did so far;
  // nullptr when that does not matter.
  ShellWords(const ShellVariables& variables, Budget& budget, std::size_t work, const ShellSession* session = nullptr)
      : variables_(variables), budget_(budget), work_(work), session_(session) {}

  // The words that come stand in the body of this function; empty for none.
  void SetFunction(std::string_view name) { function_ = name; }
  // The variable that holds the arguments of the function's calls, or of the script.
  static std::string ArgumentsOf(std::string_view function) { return '@' + std::string(function); }

  // Expands a word to none, one or more fields.
  void Expand(std::string_view word, ShellChoice& choice, std::vector<std::string>& fields);
  // The value of an assignment: not split.
  std::string ExpandValue(std::string_view word, ShellChoice& choice);
  // The lines of a here-document, or what is between double quotes.
  std::string ExpandText(std::string_view text, ShellChoice& choice);

  // What a command writes, functions of the script included.
  [[nodiscard]] ShellFlow OutputOfCommand(ShellArgv argv, const ShellFlow& input) const;
  // What a piece of code writes.
  ShellFlow FlowOf(std::string_view code);

 private:
  friend class WordReader;
  [[nodiscard]] bool Spend(std::size_t bytes);
  [[nodiscard]] ShellFlow ContentOf(ShellFlow file) const;

  const ShellVariables& variables_;
  Budget& budget_;
  std::size_t work_;
  const ShellSession* session_;
  std::string function_;
  int depth_ = 0;  // of substitutions in substitutions
};

}  // namespace skerry::policy
