#include "policy/shell_commands.hpp"

#include <algorithm>
#include <array>

#include "policy/shell_paths.hpp"
#include "policy/shell_rules.hpp"

namespace skerry::policy {
namespace {

constexpr int kMostSteps = 32;
constexpr std::string_view kMarks("\x01\x02\x03", 3);

bool IsUnknownName(std::string_view name) {
  if (name.find_first_of(kMarks) != std::string_view::npos) return true;
  if (name == "[" || name == "[[") return false;
  return name.find_first_of("*?[") != std::string_view::npos;
}

bool IsInTable(std::string_view name) {
  return name == "rm" || name == "find" || !ShellRowsOf(name).empty() || ShellWrapperOf(name) != nullptr ||
         ShellInterpreterOf(name) != nullptr || HasShellTrait(name, ShellTrait::kSafe);
}

std::string_view DirectoryOf(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? std::string_view() : path.substr(0, slash);
}

std::vector<std::string> WordsIn(std::string_view text) {
  constexpr std::size_t kMost = 256;
  std::vector<std::string> words;
  while (!text.empty() && words.size() < kMost) {
    text.remove_prefix(std::min(text.find_first_not_of(std::string_view(" \t\n\0", 4)), text.size()));
    const std::size_t end = std::min(text.find_first_of(std::string_view(" \t\n\0", 4)), text.size());
    if (end > 0) words.emplace_back(text.substr(0, end));
    text.remove_prefix(end);
  }
  return words;
}

void ReplaceAll(std::string& text, std::string_view what, std::string_view with) {
  if (what.empty()) return;
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + with.size()))
    text.replace(at, what.size(), with);
}

// What the input of xargs gives to the command: its words, or a mark for what is not known.
std::vector<std::string> ArgumentsFrom(const ShellFlow& input) {
  switch (input.kind) {
    case ShellFlow::Kind::kText:
      return WordsIn(input.text);
    case ShellFlow::Kind::kNetwork:
      return {std::string(1, kShellNetwork)};
    case ShellFlow::Kind::kDecoded:
      return {std::string(1, kShellDecoded)};
    default:
      return {std::string(1, kShellHole)};
  }
}

}  // namespace

void CommandJudge::Judge(ShellArgv argv, const ShellFlow& input, std::uint32_t place, std::string_view words) {
  argv_ = argv;
  input_ = input;
  place_ = place;
  words_ = words;
  // Each step judges a command, or takes a wrapper off and leaves the rest to the next one.
  for (int count = 0; !argv_.empty(); ++count) {
    if (count == kMostSteps) return Add(kShellUnknownCommand);
    Step();
  }
}

void CommandJudge::Step() {
  const std::string_view path = argv_[0];
  const std::string_view name = BaseName(path);
  if (IsUnknownName(path) && StepUnknown(path)) return;
  if (HasShellTrait(name, ShellTrait::kKeyword)) {
    Add(kUnparsed);
    argv_ = argv_.subspan(1);
    return;
  }
  const ShellArgv argv = argv_;
  if (const ShellWrapper* wrapper = ShellWrapperOf(name)) {
    StepWrapper(*wrapper);
    if (argv_.data() != argv.data() || argv_.size() != argv.size()) return;
  }
  if (path.contains('/') && RunFile(nullptr, path)) {
    argv_ = {};
    return;
  }
  if (const SpecialCommand* special = SpecialOf(name)) {
    (this->*special->judge)();
  } else {
    JudgeByTable(name);
  }
  RecordDownload(name);
  argv_ = {};
}

// False when the name is known after all.
bool CommandJudge::StepUnknown(std::string_view name) {
  // A directory that is not known does not hide the command.
  const std::string_view base = BaseName(name);
  if (name.contains('/') && !IsUnknownName(base) && IsInTable(base) && !HasShellTrait(base, ShellTrait::kSafe))
    return false;
  if (name.contains(kShellNetwork)) {
    Add(kShellDownloadRun);
  } else if (name.contains(kShellDecoded)) {
    Add(kShellHiddenCode);
  } else {
    const bool like_remove = HasOption(argv_, "-r -R --recursive") && HasOption(argv_, "-f --force --no-preserve-root");
    Add(like_remove && Names(IsSystemTree, argv_) ? kShellRemoveSystem : kShellUnknownCommand);
  }
  // It may be nothing at all, or something like sudo.
  argv_ = argv_.subspan(1);
  if (!argv_.empty() && !IsUnknownName(argv_[0]) && !IsInTable(BaseName(argv_[0]))) argv_ = {};
  return true;
}

void CommandJudge::StepWrapper(const ShellWrapper& wrapper) {
  static const std::array<std::string, 1> kShell = {"sh"};
  const std::string_view name = BaseName(argv_[0]);
  auto unwrapped = Unwrap(argv_, wrapper);
  if (!unwrapped) return;
  Add(wrapper.rule != nullptr ? *wrapper.rule : kShellCommand);
  JudgeEnvironment(argv_);
  for (const std::string& code : unwrapped->code) RunCode(ShellInterpreterOf("sh"), code);
  const bool is_xargs = name == "xargs" || name == "gxargs";
  const std::optional<std::string> pattern = is_xargs ? ValueOfOption(argv_, "-I --replace") : std::nullopt;
  if (unwrapped->command.empty() && unwrapped->code.empty() && wrapper.may_be_shell) {
    argv_ = kShell;
    return;
  }
  argv_ = unwrapped->command;
  if (!is_xargs || argv_.empty()) return;
  Argv filled(argv_.begin(), argv_.end());
  const Argv arguments = ArgumentsFrom(input_);
  if (pattern) {
    for (std::string& word : filled) ReplaceAll(word, *pattern, arguments.empty() ? "" : arguments.front());
  } else {
    filled.insert(filled.end(), arguments.begin(), arguments.end());
  }
  filled_ = std::move(filled);
  argv_ = filled_;
  input_ = {};
}

// Assignments between a wrapper's name and the command: `env LD_PRELOAD=x ls`.
void CommandJudge::JudgeEnvironment(ShellArgv words) {
  for (const std::string_view word : words.subspan(1)) {
    if (word.starts_with('-')) continue;
    if (!IsAssignment(word)) return;
    if (const Rule* rule = RuleForVariable(word.substr(0, word.find('=')))) Add(*rule);
  }
}

bool CommandJudge::Fits(const ShellRow& row, std::string_view name) const {
  const ShellArgv arguments = argv_.subspan(1);
  const auto any = [&](auto&& predicate) { return std::ranges::any_of(arguments, predicate); };
  switch (row.condition) {
    case ShellCondition::kAlways:
      return true;
    case ShellCondition::kWord:
      return any([&](const std::string& word) { return ListsWord(row.words, word); });
    case ShellCondition::kPrefix:
      return any([&](const std::string& word) { return ListsPrefix(row.words, word); });
    case ShellCondition::kPart:
      return any([&](const std::string& word) { return ListsPart(row.words, word); });
    case ShellCondition::kOption:
      return HasOption(argv_, row.words);
    case ShellCondition::kFirstOperand: {
      const std::size_t at = ReadArguments(argv_, {.value_letters = ValueLettersOf(name)}).first_operand;
      return at < argv_.size() && ListsWord(row.words, argv_[at]);
    }
    case ShellCondition::kDevice:
      return any([&](const std::string& word) { return IsDevice(PlainPath(word, session_.directory)); });
    case ShellCondition::kFile:
      return any([&](const std::string& word) { return !word.starts_with('-') && !IsHarmlessDevice(word); });
    case ShellCondition::kSystemTree:
      return Names(IsWholeTree, argv_.first(std::max<std::size_t>(1, argv_.size() - 1)));
    case ShellCondition::kRecursiveOnSystem:
      return HasOption(argv_, "-R -r --recursive") && Names(IsWholeTree, argv_);
  }
  return false;
}

bool CommandJudge::Names(bool (*is_one)(std::string_view), ShellArgv argv) const {
  bool only_operands = false;
  for (const std::string& word : argv.subspan(1)) {
    if (word == "--") only_operands = true;
    if (word.empty() || (word.starts_with('-') && !only_operands)) continue;
    if (is_one(PlainPath(word, session_.directory))) return true;
  }
  return false;
}

void CommandJudge::JudgeByTable(std::string_view name) {
  const ShellInterpreter* interpreter = ShellInterpreterOf(name);
  if (interpreter != nullptr) JudgeInterpreter(*interpreter);
  for (const ShellRow* row : ShellRowsOf(name))
    if (Fits(*row, name)) return Add(*row->rule);
  const auto& extras = report_.extras().commands;
  if (const auto found = extras.find(name); found != extras.end()) {
    if (found->second > core::RiskLevel::kSafe) Add(kShellOrganisation[static_cast<std::size_t>(found->second)]);
    return;
  }
  if (interpreter != nullptr) return;
  const std::string_view directory = DirectoryOf(argv_[0]);
  const bool in_place = directory.empty() || IsStandardDirectory(directory);
  if (in_place && !argv_[0].starts_with('/') && session_.functions.contains(name)) return;
  if (!HasShellTrait(name, ShellTrait::kSafe) || !in_place) Add(kShellCommand);
}

void CommandJudge::RecordDownload(std::string_view name) {
  if (!HasShellTrait(name, ShellTrait::kDownload)) return;
  const bool is_wget = name.starts_with("wget");
  auto target = ValueOfOption(argv_, is_wget ? "-O --output-document" : "-o --output --out --dir");
  const bool by_url = is_wget || HasOption(argv_, "-O --remote-name --remote-name-all -J");
  if (!target && by_url && argv_.size() > 1) {
    for (const std::string_view word : argv_.subspan(1)) {
      const std::string_view url = word.substr(0, word.find_first_of("?#"));
      if (!word.starts_with('-') && url.contains('/')) target = std::string(BaseName(url));
    }
  }
  if (!target || target->empty() || *target == "-" || target->find_first_of(kMarks) != std::string::npos) return;
  session_.files[PlainPath(*target, session_.directory)] = {ShellFlow::Kind::kNetwork, ""};
}

void AnalyseCommand(std::span<const std::optional<std::string>> argv, std::uint32_t place, Report& report) {
  std::vector<std::string> words;
  std::string shown;
  for (const std::optional<std::string>& word : argv) {
    words.push_back(word.value_or(std::string(1, kShellHole)));
    if (!shown.empty()) shown += ' ';
    if (shown.size() < 200) shown += word.value_or("?").substr(0, 200);
  }
  ShellSession session;
  CommandJudge(session, report).Judge(words, {}, place, shown);
}

}  // namespace skerry::policy
