// Judges the assignments of variables.
#include <algorithm>
#include <string>

#include "policy/shell_environment.hpp"
#include "policy/shell_raw.hpp"
#include "policy/shell_rules.hpp"
#include "policy/shell_walk.hpp"
#include "policy/shell_word_reader.hpp"

namespace skerry::policy {
namespace {

// Whether the text behind a variable's name in arithmetic sets the variable.
bool IsSetBy(std::string_view rest) {
  rest.remove_prefix(std::min(rest.find_first_not_of(" \t\n"), rest.size()));
  if (rest.starts_with('=')) return !rest.starts_with("==");
  if (rest.starts_with("++") || rest.starts_with("--") || rest.starts_with("<<=") || rest.starts_with(">>="))
    return true;
  return rest.size() > 1 && std::string_view("+-*/%&|^").contains(rest[0]) && rest[1] == '=';
}

}  // namespace

void ShellWalk::VisitAssignment(NodeId id) {
  const ShellAssignment assignment = ReadAssignment(tree_, id);
  if (!IsWatchedVariable(assignment.name)) return;
  const SearchVariable* search = SearchVariableOf(assignment.name);
  const bool loads_modules = search != nullptr && search->language;
  ShellChoice choice;
  for (choice.which = 0; choice.which < choice.count && !budget_.IsOver(); ++choice.which) {
    const std::string value = words_.ExpandValue(assignment.value, choice);
    JudgeValue(assignment.name, value, id);
    if (loads_modules && value.contains(kShellHole) && IsFoundOut(assignment.value))
      report_.Add(kShellUnknownCode, code_, tree_[id].begin, tree_[id].end);
  }
}

void ShellWalk::JudgeValue(std::string_view variable, const std::string& value, NodeId id) {
  const std::uint32_t place = tree_[id].begin;
  judge_.JudgeAssignment(variable, value, place, tree_.BeginningOf(id));
  if (!HoldsCommand(variable, value)) return;
  report_.Add(kShellNestedCode, code_, place, tree_[id].end);
  Nest(value, place);
}

void ShellWalk::JudgeValues(std::string_view variable, NodeId id) {
  if (!IsWatchedVariable(variable)) return;
  const auto* found = variables_.Find(variable);
  const std::vector<std::string> values = found != nullptr ? *found : std::vector<std::string>(1, {kShellHole});
  for (const std::string& value : values) {
    JudgeValue(variable, value, id);
    if (value.contains(kShellHole)) judge_.JudgeUnknown(variable, tree_[id].begin, tree_.BeginningOf(id));
  }
}

// ${x:=y} sets x, and ${!x:=y} sets the variable that x names.
void ShellWalk::VisitDefault(NodeId id) {
  const ShellAssignment assignment = ReadDefault(tree_, id);
  if (!assignment.indirect) return JudgeValues(assignment.name, id);
  const auto* names = variables_.Find(assignment.name);
  if (names == nullptr) return;
  for (const std::string& name : std::vector<std::string>(*names))
    if (IsWatchedVariable(name)) judge_.JudgeUnknown(name, tree_[id].begin, tree_.BeginningOf(id));
}

// Whether the value is only known when the script runs. A variable that the script sets nowhere comes from its
// environment.
bool ShellWalk::IsFoundOut(std::string_view value) const {
  if (value.contains("$(") || value.contains('`')) return true;
  for (std::size_t at = value.find('$'); at != std::string_view::npos; at = value.find('$', at + 1)) {
    const std::size_t begin = std::min(value.find_first_not_of("{!", at + 1), value.size());
    const std::string_view rest = value.substr(begin);
    const auto* values = variables_.Find(rest.substr(0, NameLength(rest)));
    const auto is_unknown = [](const std::string& one) { return one == std::string_view(&kShellHole, 1); };
    if (values != nullptr && std::ranges::any_of(*values, is_unknown)) return true;
  }
  return false;
}

// The parser splits a declaration into words otherwise than the shell does, so the words are read by their letters.
void ShellWalk::VisitDeclaration(NodeId id) {
  report_.Add(kShellCommand, code_, tree_[id].begin, tree_[id].end);
  const std::string_view text = tree_.TextOf(id);
  if (!budget_.Spend(WorkOfReading(text.size()))) return;
  ForEachRaw(text, [&](const RawCommand& command) {
    ShellChoice choice;
    for (choice.which = 0; choice.which < choice.count && !budget_.IsOver(); ++choice.which) {
      std::vector<std::string> argv;
      ExpandWords(command.words, choice, argv);
      if (!argv.empty()) judge_.Judge(argv, {}, tree_[id].begin, tree_.BeginningOf(id));
    }
    return false;  // what follows is the content of an array
  });
}

// A number can be the name of a file or a directory.
void ShellWalk::VisitArithmetic(NodeId id) {
  const std::string_view text = tree_.TextOf(id);
  if (!budget_.Spend(WorkOfReading(text.size()))) return;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = NameLength(text.substr(at));
    const std::string_view name = text.substr(at, length);
    at += std::max<std::size_t>(1, length);
    if (length == 0 || !IsWatchedVariable(name)) continue;
    if (IsSetBy(text.substr(at))) judge_.JudgeUnknown(name, tree_[id].begin, tree_.BeginningOf(id));
  }
}

// `declare -n x=PATH` makes x another name for PATH, and `export $x=here` sets the variable that x names.
void CommandJudge::JudgeDeclaration() {
  Add(kShellCommand);
  const auto is_option = [](const std::string& word) { return word.starts_with('-') || word.starts_with('+'); };
  const bool refers = std::ranges::any_of(argv_.subspan(1), [&](const std::string& word) {
    return is_option(word) && word.contains('n') && word[0] == '-';
  });
  for (const std::string& word : argv_.subspan(1)) {
    if (is_option(word)) continue;
    const std::size_t equals = std::min(word.find('='), word.size());
    // An unknown part of the name may be empty.
    std::string left = word.substr(0, equals);
    if (left.ends_with('+')) left.pop_back();
    std::erase(left, kShellHole);
    const std::string right = word.substr(std::min(equals + 1, word.size()));
    if (refers && IsWatchedVariable(right)) JudgeUnknownValue(right);
    if (refers && right.empty() && variables_ != nullptr)
      if (const auto* names = variables_->Find(left))
        for (const std::string& name : std::vector<std::string>(*names))
          if (IsWatchedVariable(name)) JudgeUnknownValue(name);
    if (refers || equals == word.size() || !IsWatchedVariable(left)) continue;
    JudgeVariable(left, right);
    if (HoldsCommand(left, right)) RunCode(ShellInterpreterOf("sh"), right);
  }
}

// `read`, `printf -v` and the like.
void CommandJudge::JudgeSetting() {
  JudgeByTable(BaseName(argv_[0]));
  for (const std::string& variable : VariablesSetBy(argv_)) {
    if (!IsWatchedVariable(variable)) continue;
    const auto* found = variables_ != nullptr ? variables_->Find(variable) : nullptr;
    const std::vector<std::string> values = found != nullptr ? *found : std::vector<std::string>(1, {kShellHole});
    for (const std::string& value : values) {
      JudgeVariable(variable, value);
      if (HoldsCommand(variable, value)) RunCode(ShellInterpreterOf("sh"), value);
      if (value.contains(kShellHole)) JudgeUnknownValue(variable);
    }
  }
}

void CommandJudge::JudgeUnknownValue(std::string_view variable) {
  JudgeVariable(variable, std::string_view(&kShellHole, 1));
  if (SearchVariableOf(variable) != nullptr) Add(kShellUnknownCode);
}

}  // namespace skerry::policy
