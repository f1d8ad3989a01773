#include <algorithm>

#include "policy/shell_paths.hpp"
#include "policy/shell_raw.hpp"
#include "policy/shell_rules.hpp"
#include "policy/shell_walk.hpp"

namespace skerry::policy {
namespace {

using Kind = ShellFlow::Kind;

constexpr int kMostClimbs = 64;

}  // namespace

void ShellWalk::CollectVariables() {
  for (NodeId id = 0; id < tree_.size(); ++id) {
    const ShellKind kind = KindOf(tree_, id);
    if (kind == ShellKind::kAssignment) CollectAssignment(id);
    if (kind == ShellKind::kFor) CollectLoop(id);
    if (kind == ShellKind::kCommandName) CollectFromCommand(id);
  }
}

void ShellWalk::CollectAssignment(NodeId id) {
  const ShellAssignment assignment = ReadAssignment(tree_, id);
  ShellChoice choice;
  for (choice.which = 0; choice.which < choice.count; ++choice.which) {
    std::string value;
    if (assignment.array) {
      std::vector<std::string> elements;
      for (const RawCommand& line : SplitRaw(assignment.value))
        for (const std::string_view word : line.words) words_.Expand(word, choice, elements);
      for (const std::string& element : elements) (value += value.empty() ? "" : "\x05") += element;
    } else {
      value = words_.ExpandValue(assignment.value, choice);
    }
    if (!assignment.appends) {
      variables_.Assign(assignment.name, std::move(value));
    } else {
      if (assignment.array) value.insert(0, 1, kShellBreak);
      variables_.Append(assignment.name, value);
    }
  }
}

void ShellWalk::CollectLoop(NodeId id) {
  const NodeId variable = tree_.FirstNamedChild(id);
  if (variable == kNoNode) return;
  bool any = false;
  for (NodeId child = tree_.NextNamedSibling(variable); child != kNoNode; child = tree_.NextNamedSibling(child)) {
    const ShellKind kind = KindOf(tree_, child);
    if (kind == ShellKind::kDoGroup || kind == ShellKind::kCompound || kind == ShellKind::kComment) continue;
    any = true;
    ShellChoice choice;
    for (choice.which = 0; choice.which < choice.count; ++choice.which) {
      std::vector<std::string> values;
      words_.Expand(tree_.TextOf(child), choice, values);
      for (std::string& value : values) variables_.Assign(tree_.TextOf(variable), std::move(value));
    }
  }
  if (!any) variables_.Assign(tree_.TextOf(variable), std::string(1, kShellHole));
}

// Commands that set variables.
void ShellWalk::CollectFromCommand(NodeId id) {
  const std::string_view name = tree_.TextOf(id);
  CollectRunner(id);
  const bool reads =
      name == "read" || name == "mapfile" || name == "readarray" || name == "getopts" || name == "printf";
  if (!reads && name != "set") return;
  ShellChoice choice;
  std::vector<std::string> argv;
  for (const std::string_view word : ReadStatement(tree_, tree_[id].parent).words) words_.Expand(word, choice, argv);
  if (name == "set") {
    const auto dashes = std::ranges::find(argv, "--");
    std::string all;
    for (auto word = dashes; word != argv.end(); ++word)
      if (word != dashes) (all += all.empty() ? "" : "\x05") += *word;
    if (!all.empty()) variables_.Assign("@", std::move(all));
  } else if (name == "printf") {
    if (argv.size() < 3 || argv[1] != "-v") return;
    std::vector<std::string> printed = {"printf"};
    printed.insert(printed.end(), argv.begin() + 3, argv.end());
    const ShellFlow flow = OutputOf(printed, {});
    variables_.Assign(argv[2], flow.kind == Kind::kText ? flow.text : std::string(1, kShellHole));
  } else {
    for (std::size_t at = 1; at < argv.size(); ++at)
      if (!argv[at].starts_with('-')) variables_.Assign(argv[at], std::string(1, kShellHole));
  }
}

// A function that runs its arguments: `run() { "$@"; }`, `retry() { sudo "$@"; }`.
void ShellWalk::CollectRunner(NodeId id) {
  const std::string_view name = tree_.TextOf(id);
  const bool runs_others = name == "eval" || ShellWrapperOf(name) != nullptr;
  if (!name.contains('$') && !runs_others) return;
  const std::string_view text = runs_others ? tree_.TextOf(tree_[id].parent) : name;
  if (!text.contains("$@") && !text.contains("$*") && !text.contains("$1") && !text.contains("${@")) return;
  NodeId node = tree_[id].parent;
  for (int count = 0; node != kNoNode && count < kMostClimbs; ++count, node = tree_[node].parent) {
    if (KindOf(tree_, node) != ShellKind::kFunction) continue;
    const NodeId function = tree_.FirstNamedChild(node);
    if (function != kNoNode) runners_.insert(tree_.TextOf(function));
    return;
  }
}

}  // namespace skerry::policy
