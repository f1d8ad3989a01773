// Variables that get a value, where they get it.
#include <algorithm>
#include <string>

#include "policy/shell_environment.hpp"
#include "policy/shell_rules.hpp"
#include "policy/shell_walk.hpp"
#include "policy/shell_word_reader.hpp"

namespace skerry::policy {

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
    if (SearchVariableOf(variable) != nullptr && value.contains(kShellHole))
      report_.Add(kShellUnknownCode, code_, tree_[id].begin, tree_[id].end);
  }
}

// The script finds it out while it runs. A variable that it sets nowhere comes with its environment.
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

// `declare -n x=PATH` makes another name for it, and `export $x=here` sets whatever it names.
void ShellWalk::VisitDeclaration(NodeId id) {
  report_.Add(kShellCommand, code_, tree_[id].begin, tree_[id].end);
  for (NodeId child = tree_.FirstNamedChild(id); child != kNoNode; child = tree_.NextNamedSibling(child)) {
    const bool assigns = KindOf(tree_, child) == ShellKind::kAssignment;
    const std::string_view text = tree_.TextOf(child);
    if (assigns && !ChangesValues(id)) continue;
    ShellChoice choice;
    for (choice.which = 0; choice.which < choice.count && !budget_.IsOver(); ++choice.which) {
      std::vector<std::string> words;
      words_.Expand(text, choice, words);
      for (const std::string& word : words) {
        const std::size_t equals = word.find('=');
        if (equals == std::string::npos) continue;
        const std::string_view left = std::string_view(word).substr(0, equals);
        const std::string_view right = std::string_view(word).substr(equals + 1);
        if (IsWatchedVariable(assigns ? right : left))
          JudgeValue(assigns ? right : left, assigns ? std::string(1, kShellHole) : std::string(right), child);
        if (assigns && SearchVariableOf(right) != nullptr)
          report_.Add(kShellUnknownCode, code_, tree_[id].begin, tree_[id].end);
      }
    }
  }
}

// A number can be the name of a directory.
void ShellWalk::VisitArithmetic(NodeId id) {
  const std::string_view text = tree_.TextOf(id);
  if (!budget_.Spend(WorkOfReading(text.size()))) return;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = std::max<std::size_t>(1, NameLength(text.substr(at)));
    const std::string_view name = text.substr(at, length);
    at += length;
    const std::size_t next = std::min(text.find_first_not_of(" \t", at), text.size());
    const bool is_set = text.substr(next).starts_with("=") && !text.substr(next).starts_with("==");
    if (is_set && SearchVariableOf(name) != nullptr)
      report_.Add(kShellUnknownCode, code_, tree_[id].begin, tree_[id].end);
  }
}

}  // namespace skerry::policy
