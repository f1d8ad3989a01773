// Reads one word of the shell and writes down what it becomes. For shell_words.cpp only.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "policy/shell_words.hpp"

namespace skerry::policy {

class WordReader {
 public:
  WordReader(ShellWords& words, const ShellVariables& variables, ShellChoice& choice)
      : words_(words), variables_(variables), choice_(choice), left_(choice.which) {}

  void ReadWord(std::string_view word);   // with breaks where the word splits, and marked braces
  void ReadValue(std::string_view word);  // the same, without breaks
  void ReadText(std::string_view text);   // as between double quotes

  [[nodiscard]] const std::string& text() const { return text_; }
  [[nodiscard]] bool has_quotes() const { return has_quotes_; }

 private:
  enum class Splitting { kYes, kNo };

  void Read(std::string_view word);
  std::size_t ReadPiece(std::string_view word, std::size_t at);
  std::size_t ReadSingleQuotes(std::string_view word, std::size_t at);
  std::size_t ReadDoubleQuotes(std::string_view word, std::size_t at);
  std::size_t ReadBackticks(std::string_view word, std::size_t at, Splitting splitting);
  std::size_t ReadProcess(std::string_view word, std::size_t at);
  void ReadQuoted(std::string_view inside);
  std::size_t ReadDollar(std::string_view word, std::size_t at, Splitting splitting);
  void ReadParameter(std::string_view inside, Splitting splitting);
  void ReadOperator(std::string_view name, std::string_view rest, Splitting splitting);
  void Substitute(std::string_view code, Splitting splitting);
  std::size_t ReadTilde(std::string_view word, std::size_t at);

  [[nodiscard]] std::vector<std::string> ValuesOf(std::string_view name) const;
  [[nodiscard]] std::string ValueOfWord(std::string_view word);
  void AppendOneOf(const std::vector<std::string>& values, Splitting splitting);
  void AppendValue(std::string_view value, Splitting splitting);
  void AppendLiteral(char c);
  ShellWords& words_;
  const ShellVariables& variables_;
  ShellChoice& choice_;
  unsigned left_;  // what is left of the choice for the variables that come
  unsigned possibilities_ = 1;
  Splitting word_splitting_ = Splitting::kYes;
  std::size_t expanded_ = 0;                                                // bytes that came from variables
  static constexpr std::size_t kMostExpandedOfAll = std::size_t{1} << 20U;  // of a command
  std::string text_;
  bool has_quotes_ = false;
};

// The length of the variable's name that the text begins with; 0 for none.
std::size_t NameLength(std::string_view text);
// `a{b,c}` as `ab` and `ac`. An expansion to more than `most` words, or to very long ones, is a hole.
std::vector<std::string> ExpandBraces(std::string_view text, std::size_t most, Budget& budget);
// The text with plain braces in place of marked ones.
std::string WithPlainBraces(std::string_view text);

}  // namespace skerry::policy
