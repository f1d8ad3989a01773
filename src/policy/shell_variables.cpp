#include <algorithm>

#include "policy/shell_paths.hpp"
#include "policy/shell_raw.hpp"
#include "policy/shell_rules.hpp"
#include "policy/shell_walk.hpp"

namespace skerry::policy {
namespace {

using Kind = ShellFlow::Kind;

constexpr int kMostClimbs = 64;
constexpr std::size_t kMemoryOfAFunction = 256;

// The options of a declaration: -n, -l, -u, -c.
bool HasChangingOption(std::string_view declaration) {
  const std::size_t dash = declaration.find(" -");
  const std::string_view options = dash == std::string_view::npos ? std::string_view() : declaration.substr(dash + 2);
  return options.substr(0, options.find(' ')).find_first_of("nluc") != std::string_view::npos;
}

bool TakesArguments(std::string_view text) {
  for (std::size_t at = text.find('$'); at != std::string_view::npos; at = text.find('$', at + 1)) {
    const std::size_t name = std::min(text.find_first_not_of('{', at + 1), text.size());
    if (name < text.size() && std::string_view("@*123456789").contains(text[name])) return true;
  }
  return false;
}

std::string Joined(ShellArgv words) {
  std::string all;
  for (const std::string& word : words) {
    if (!all.empty()) all += kShellBreak;
    all += word;
  }
  return all;
}

}  // namespace

// Remembers the last answer, since it is asked for each assignment of a declaration.
bool ShellWalk::ChangesValues(NodeId declaration) {
  if (declaration_.first != declaration) declaration_ = {declaration, HasChangingOption(tree_.TextOf(declaration))};
  return declaration_.second;
}

void ShellWalk::CollectVariables() {
  for (NodeId id = 0; tree_.Reaches(id); ++id) {
    const ShellKind kind = KindOf(tree_, id);
    if (kind == ShellKind::kAssignment) CollectAssignment(id);
    if (kind == ShellKind::kFor) CollectLoop(id);
    if (kind == ShellKind::kCommandName) CollectFromCommand(id);
    if (kind == ShellKind::kExpansion) CollectDefault(id);
    const NodeId function = kind == ShellKind::kFunction ? tree_.FirstNamedChild(id) : kNoNode;
    if (function == kNoNode) continue;
    defined_.insert(tree_.TextOf(function));
    memory_.Add(kMemoryOfAFunction);
  }
  if (!defined_.empty()) CollectArguments();
}

void ShellWalk::CollectArguments() {
  for (NodeId id = 0; tree_.Reaches(id); ++id)
    if (KindOf(tree_, id) == ShellKind::kCommandName && defined_.contains(tree_.TextOf(id))) CollectCall(id);
  NodeId end = 0;
  for (NodeId id = 0; tree_.Reaches(id); ++id) {
    const ShellKind kind = KindOf(tree_, id);
    const NodeId function = kind == ShellKind::kFunction ? tree_.FirstNamedChild(id) : kNoNode;
    if (function != kNoNode) words_.SetFunction(tree_.TextOf(function));
    if (function != kNoNode) end = tree_[id].after;
    const bool inside = kind == ShellKind::kAssignment && id < end;
    if (inside && TakesArguments(tree_.TextOf(id)) && !ReadAssignment(tree_, id).appends) CollectAssignment(id);
  }
  words_.SetFunction({});
}

void ShellWalk::CollectCall(NodeId name) {
  // Of very many calls the first ones are enough: the others become holes.
  const auto* known = variables_.Find(ShellWords::ArgumentsOf(tree_.TextOf(name)));
  if (known != nullptr && known->size() > ShellVariables::kMostValues) return;
  ShellChoice choice;
  for (choice.which = 0; choice.which < choice.count; ++choice.which) {
    std::vector<std::string> argv;
    ExpandWords(ReadStatement(tree_, tree_[name].parent).words, choice, argv);
    if (argv.size() > 1)
      variables_.Assign(ShellWords::ArgumentsOf(tree_.TextOf(name)), Joined(ShellArgv(argv).subspan(1)));
  }
}

void ShellWalk::CollectDefault(NodeId id) {
  const ShellAssignment assignment = ReadDefault(tree_, id);
  if (assignment.name.empty() || assignment.indirect) return;
  ShellChoice choice;
  variables_.Assign(assignment.name, words_.ExpandValue(assignment.value, choice));
}

void ShellWalk::CollectAssignment(NodeId id) {
  const ShellAssignment assignment = ReadAssignment(tree_, id);
  ShellChoice choice;
  for (choice.which = 0; choice.which < choice.count; ++choice.which) {
    std::string value;
    if (assignment.array) {
      std::vector<std::string> elements;
      ForEachRaw(assignment.value, [&](const RawCommand& line) {
        ExpandWords(line.words, choice, elements);
        return !budget_.IsOver();
      });
      for (const std::string& element : elements) (value += value.empty() ? "" : "\x05") += element;
    } else {
      value = words_.ExpandValue(assignment.value, choice);
    }
    const bool first_element = assignment.element && variables_.Find(assignment.name) == nullptr;
    if (first_element || (!assignment.appends && !assignment.element)) {
      variables_.Assign(assignment.name, std::move(value));
    } else {
      if (assignment.array || assignment.element) value.insert(0, 1, kShellBreak);
      variables_.Append(assignment.name, value);
    }
  }
  // `declare -n` and `-l` change the value.
  const NodeId parent = tree_[id].parent;
  if (parent != kNoNode && KindOf(tree_, parent) == ShellKind::kDeclaration && ChangesValues(parent))
    variables_.Assign(assignment.name, std::string(1, kShellHole));
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
  if (!SetsVariables(name) && name != "set") return;
  ShellChoice choice;
  std::vector<std::string> argv;
  ExpandWords(ReadStatement(tree_, tree_[id].parent).words, choice, argv);
  if (name == "set") {
    const std::size_t first = ReadArguments(argv, {.value_letters = "o"}).first_operand;
    std::string all = Joined(ShellArgv(argv).subspan(std::min(first, argv.size())));
    if (!all.empty()) variables_.Assign(ShellWords::ArgumentsOf({}), std::move(all));
  } else if (name == "printf") {
    if (argv.size() < 3 || argv[1] != "-v") return;
    std::vector<std::string> printed = {"printf"};
    printed.insert(printed.end(), argv.begin() + 3, argv.end());
    const ShellFlow flow = OutputOf(printed, {});
    variables_.Assign(argv[2], flow.kind == Kind::kText ? flow.text : std::string(1, kShellHole));
  } else {
    for (const std::string& variable : VariablesSetBy(argv)) variables_.Assign(variable, std::string(1, kShellHole));
  }
}

// A function that runs its arguments: `run() { "$@"; }`, `retry() { sudo "$@"; }`.
void ShellWalk::CollectRunner(NodeId id) {
  const std::string_view name = tree_.TextOf(id);
  const bool runs_others = name == "eval" || ShellWrapperOf(name) != nullptr;
  if (!name.contains('$') && !runs_others) return;
  const std::string_view text = runs_others ? tree_.TextOf(tree_[id].parent) : name;
  budget_.Spend(4 * WorkOfReading(text.size()));
  if (!text.contains("$@") && !text.contains("$*") && !text.contains("$1") && !text.contains("${@")) return;
  NodeId node = tree_[id].parent;
  for (int count = 0; node != kNoNode && count < kMostClimbs; ++count, node = tree_.Parent(node)) {
    if (KindOf(tree_, node) != ShellKind::kFunction) continue;
    const NodeId function = tree_.FirstNamedChild(node);
    if (function != kNoNode) runners_.insert(tree_.TextOf(function));
    return;
  }
}

}  // namespace skerry::policy
