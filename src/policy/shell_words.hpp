// From the words of a script to what the shell makes of them: quotes, escapes, variables, braces, substitutions. What
// cannot be known is a mark inside the value: kShellHole, kShellNetwork, kShellDecoded, kShellHome.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "policy/shell_flow.hpp"
#include "policy/shell_paths.hpp"

namespace skerry::policy {

// Between the elements of an array, in the value of a variable.
inline constexpr char kShellBreak = '\x05';

// What each variable can hold, wherever it was assigned. Up to eight values; one more is a hole.
class ShellVariables {
 public:
  static constexpr std::size_t kMostValues = 8;
  static constexpr std::size_t kLongestValue = 4096;  // longer ones are holes

  void Assign(std::string_view name, std::string value);
  // To everything that it can hold.
  void Append(std::string_view name, std::string_view value);
  // nullptr for a variable that is assigned nowhere.
  [[nodiscard]] const std::vector<std::string>* Find(std::string_view name) const;

 private:
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>{}(text); }
  };
  std::unordered_map<std::string, std::vector<std::string>, Hash, std::equal_to<>> values_;
};

// Which of the possible values is wanted. Ask for 0, then for all others below `count`.
struct ShellChoice {
  unsigned which = 0;
  unsigned count = 1;
};

class ShellWords {
 public:
  // `work` is how many bytes may be looked at; everything beyond is a hole.
  ShellWords(const ShellVariables& variables, std::size_t work) : variables_(variables), work_(work) {}

  // A word becomes none, one or more.
  void Expand(std::string_view word, ShellChoice& choice, std::vector<std::string>& fields);
  // The value of an assignment: not split.
  std::string ExpandValue(std::string_view word, ShellChoice& choice);
  // The lines of a here-document, or what is between double quotes.
  std::string ExpandText(std::string_view text, ShellChoice& choice);

  // What a piece of code writes.
  ShellFlow FlowOf(std::string_view code);

 private:
  friend class WordReader;
  [[nodiscard]] bool Spend(std::size_t bytes);

  const ShellVariables& variables_;
  std::size_t work_;
  int depth_ = 0;  // of substitutions in substitutions
};

}  // namespace skerry::policy
