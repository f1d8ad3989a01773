#include "policy/shell_commands.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "policy/shell_paths.hpp"
#include "policy/shell_rules.hpp"

namespace skerry::policy {
namespace {

constexpr int kMostSteps = 32;
constexpr int kMostDepth = 8;                       // of commands that run commands
constexpr std::uint64_t kWorkOfAStepOfJudging = 3;  // for each word: the rows of the table, options, paths
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

constexpr std::string_view kBlanks(" \t\n\0", 4);
constexpr std::string_view kLineEnds("\n\0", 2);

// Splits a text into words; a quoted part is one word, unless only line ends separate.
std::vector<std::string> WordsIn(std::string_view text, std::string_view separators) {
  constexpr std::size_t kMost = 256;
  std::vector<std::string> words;
  while (!text.empty() && words.size() < kMost) {
    text.remove_prefix(std::min(text.find_first_not_of(separators), text.size()));
    const bool quoted = separators == kBlanks && (text.starts_with('\'') || text.starts_with('"'));
    const std::size_t quote = quoted ? text.find(text[0], 1) : std::string_view::npos;
    const std::size_t begin = quote == std::string_view::npos ? 0 : 1;
    const std::size_t end = begin == 1 ? quote : std::min(text.find_first_of(separators), text.size());
    if (end > begin) words.emplace_back(text.substr(begin, end - begin));
    text.remove_prefix(std::min(end + begin, text.size()));
  }
  if (!text.empty()) words.emplace_back(1, kShellHole);
  return words;
}

void ReplaceAll(std::string& text, std::string_view what, std::string_view with) {
  if (what.empty()) return;
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + with.size()))
    text.replace(at, what.size(), with);
}

// Whether the command is `git config KEY VALUE` with one of the keys.
bool SetsKey(ShellArgv argv, std::string_view keys) {
  for (std::size_t at = 1; at + 1 < argv.size(); ++at) {
    std::string key = argv[at];
    std::ranges::transform(key, key.begin(),
                           [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
    const std::size_t dot = key.rfind('.');
    if (key.starts_with('-') || dot == 0 || dot == std::string::npos) continue;
    if (ListsPrefix(keys, key) || ListsWord(keys, std::string_view(key).substr(dot))) return true;
  }
  return false;
}

// The arguments that xargs makes of its input: words, or a mark for unknown input.
std::vector<std::string> ArgumentsFrom(const ShellFlow& input, std::string_view separators) {
  switch (input.kind) {
    case ShellFlow::Kind::kText:
      return WordsIn(input.text, separators);
    case ShellFlow::Kind::kUnknown: {
      std::vector<std::string> words = WordsIn(input.text, separators);
      words.emplace_back(1, kShellHole);
      return words;
    }
    case ShellFlow::Kind::kNetwork:
      return {std::string(1, kShellNetwork)};
    case ShellFlow::Kind::kDecoded:
      return {std::string(1, kShellDecoded)};
    default:
      return {std::string(1, kShellHole)};
  }
}

}  // namespace

CommandJudge CommandJudge::Inside(const CommandJudge& outer) {
  CommandJudge judge(outer.session_, outer.report_, outer.variables_);
  judge.depth_ = outer.depth_ + 1;
  return judge;
}

void CommandJudge::Judge(ShellArgv argv, const ShellFlow& input, std::uint32_t place, std::string_view words) {
  argv_ = argv;
  input_ = input;
  place_ = place;
  words_ = words;
  copies_ = 0;
  report_.budget().Spend(WorkOfCopying(input.text.size()));
  if (depth_ > kMostDepth) return Add(kNotAnalysed);
  ExpandAlias();
  // Each step judges a command, or takes a wrapper off and leaves the rest to the next step.
  for (int count = 0; !argv_.empty(); ++count) {
    if (count == kMostSteps) return Add(kShellUnknownCommand);
    // Paths are put together with the directory.
    const std::uint64_t paths = argv_.size() * session_.directory.size();
    if (!report_.budget().Spend(kWorkOfAStepOfJudging * WorkOf(argv_) + paths)) break;
    Step();
  }
  if (outer_directory_) session_.directory = *std::exchange(outer_directory_, std::nullopt);
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
  if (!path.contains('/')) Refer(CodeReference::Kind::kCommand, nullptr, path);
  if (const SpecialCommand* special = SpecialOf(name)) {
    (this->*special->judge)();
  } else {
    JudgeByTable(name);
  }
  RecordDownload(name);
  argv_ = {};
}

// Expands once, as the shell does: `alias ls='ls -l'` ends.
void CommandJudge::ExpandAlias() {
  const auto alias = argv_.empty() ? session_.aliases.end() : session_.aliases.find(argv_[0]);
  if (alias == session_.aliases.end()) return;
  Argv expanded = WordsIn(alias->second, kBlanks);
  if (expanded.empty() || expanded[0] == argv_[0]) return;
  expanded.insert(expanded.end(), argv_.begin() + 1, argv_.end());
  filled_ = std::move(expanded);
  argv_ = filled_;
}

// False when the name turns out to be known.
bool CommandJudge::StepUnknown(std::string_view name) {
  // An unknown directory does not hide the command.
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
  // The unknown part may be empty: then the rest of the name counts, or the next word is the command. It may also be
  // something like sudo.
  std::string known(base);
  std::erase(known, kShellHole);
  if (!IsUnknownName(known) && IsInTable(known) && !HasShellTrait(known, ShellTrait::kSafe)) {
    Argv filled(argv_.begin(), argv_.end());
    filled[0] = std::move(known);
    filled_ = std::move(filled);
    argv_ = filled_;
    return true;
  }
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
  JudgeByRows(name);
  JudgeEnvironment(wrapper);
  if (name == "parallel") StepParallel(unwrapped->code);
  for (const std::string& code : unwrapped->code) RunCode(ShellInterpreterOf("sh"), code);
  const bool is_xargs = name == "xargs" || name == "gxargs";
  const ShellArgv whole = argv_;
  if (unwrapped->command.empty() && unwrapped->code.empty() && wrapper.may_be_shell) {
    argv_ = kShell;
    return;
  }
  argv_ = unwrapped->command;
  const ShellArgv own = whole.first(whole.size() - argv_.size());
  const auto directory = name == "env" || name == "sudo" ? ValueOfOption(own, "-C -D --chdir") : std::nullopt;
  if (directory && !outer_directory_) outer_directory_ = session_.directory;
  if (directory) session_.directory = PlainPath(*directory, session_.directory);
  if (is_xargs && !argv_.empty()) StepXargs(own);
}

// `own` is the word xargs with its options.
void CommandJudge::StepXargs(ShellArgv own) {
  constexpr std::size_t kMostRuns = 8;
  const std::optional<std::string> pattern = ValueOfOption(own, "-I --replace");
  const bool by_lines = pattern || HasOption(own, "-d -0 --null --delimiter");
  Argv arguments = ArgumentsFrom(input_, by_lines ? kLineEnds : kBlanks);
  if (pattern && arguments.size() > kMostRuns) arguments[1].assign(1, kShellHole);
  Argv filled(argv_.begin(), argv_.end());
  input_ = {};
  if (pattern) {
    for (std::size_t run = 1; run < std::min(kMostRuns, arguments.size()); ++run) {
      Argv other = filled;
      for (std::string& word : other) ReplaceAll(word, *pattern, arguments[run]);
      Inside(*this).Judge(other, {}, place_, words_);
    }
    for (std::string& word : filled) ReplaceAll(word, *pattern, arguments.empty() ? "" : arguments.front());
  } else {
    filled.insert(filled.end(), arguments.begin(), arguments.end());
  }
  filled_ = std::move(filled);
  argv_ = filled_;
}

// parallel runs its input, or passes it to the command line by line.
void CommandJudge::StepParallel(const std::vector<std::string>& code) {
  const ShellInterpreter* shell = ShellInterpreterOf("sh");
  if (input_.kind == ShellFlow::Kind::kNone) return ReferToInput(shell);
  if (code.empty()) return RunFlow(shell, input_);
  const Argv arguments = ArgumentsFrom(input_, kLineEnds);
  std::string all = code.front();
  for (const std::string& argument : arguments) all += ' ' + argument;
  RunCode(shell, all);
}

// Assignments between a wrapper's name and the command: `env LD_PRELOAD=x ls`.
void CommandJudge::JudgeEnvironment(const ShellWrapper& wrapper) {
  const ShellArgv words = argv_;
  for (std::size_t at = 1; at < words.size(); ++at) {
    const std::string_view word = words[at];
    const bool takes_value = ListsWord(wrapper.value_options, word) ||
                             (word.size() == 2 && word[0] == '-' && wrapper.value_letters.contains(word[1]));
    if (takes_value) ++at;
    if (word.starts_with('-')) continue;
    if (!IsAssignment(word)) return;
    const std::size_t equals = word.find('=');
    const std::string_view variable = word.substr(0, equals);
    const std::string_view value = word.substr(equals + 1);
    JudgeVariable(variable, value);
    if (HoldsCommand(variable, value)) RunCode(ShellInterpreterOf("sh"), value);
  }
}

void CommandJudge::JudgeAssignment(std::string_view variable, std::string_view value, std::uint32_t place,
                                   std::string_view words) {
  place_ = place;
  words_ = words;
  JudgeVariable(variable, value);
}

void CommandJudge::JudgeUnknown(std::string_view variable, std::uint32_t place, std::string_view words) {
  place_ = place;
  words_ = words;
  JudgeUnknownValue(variable);
}

void CommandJudge::JudgeVariable(std::string_view variable, std::string_view value) {
  report_.budget().Spend(WorkOfReading(value.size()));
  if (const Rule* rule = RuleForVariable(variable, value, session_.directory)) Add(*rule);
  if (const SearchVariable* search = SearchVariableOf(variable)) ReferToSearchPath(*search, value);
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
    case ShellCondition::kCode:
      return ValueOfOption(argv_, row.words).has_value();
    case ShellCondition::kEarlyOption:
      return HasOption(argv_.first(FirstOperand(name)), row.words);
    case ShellCondition::kFirstOperand: {
      const std::size_t at = FirstOperand(name);
      return at < argv_.size() && ListsWord(row.words, argv_[at]);
    }
    case ShellCondition::kLessOrder:
      return any([](const std::string& word) { return word.starts_with('+') && !IsHarmlessForLess(word); });
    case ShellCondition::kGitSetting: {
      const std::size_t at = FirstOperand(name);
      return at < argv_.size() && argv_[at] == "config" && SetsKey(argv_.subspan(at), row.words);
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

std::size_t CommandJudge::FirstOperand(std::string_view name) const {
  const ShellValueOptions options = ValueOptionsOf(name);
  return ReadArguments(argv_, {.value_letters = options.letters, .value_options = options.options}).first_operand;
}

bool CommandJudge::JudgeByRows(std::string_view name) {
  for (const ShellRow* row : ShellRowsOf(name)) {
    if (!Fits(*row, name)) continue;
    Add(*row->rule);
    if (row->condition == ShellCondition::kCode)
      for (const std::string& code : ValuesOfOption(argv_, row->words)) RunCode(ShellInterpreterOf("sh"), code);
    return true;
  }
  return false;
}

void CommandJudge::JudgeByTable(std::string_view name) {
  const ShellInterpreter* interpreter = ShellInterpreterOf(name);
  if (interpreter != nullptr) JudgeInterpreter(*interpreter);
  JudgeOrders(name);
  if (JudgeByRows(name)) return;
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
  const auto directory = ValueOfOption(argv_, is_wget ? "-P --directory-prefix" : "--output-dir");
  const bool by_url = is_wget || HasOption(argv_, "-O --remote-name --remote-name-all -J");
  if (!target && by_url && argv_.size() > 1) {
    for (const std::string_view word : argv_.subspan(1)) {
      const std::string_view url = word.substr(0, word.find_first_of("?#"));
      if (!word.starts_with('-') && url.contains('/')) target = std::string(BaseName(url));
    }
  }
  if (!target || target->empty() || *target == "-") return;
  if (target->find_first_of(kMarks) != std::string::npos) {
    session_.has_unknown_download = true;
    return;
  }
  if (directory && !target->starts_with('/')) target = *directory + '/' + *target;
  constexpr std::size_t kMemoryOfAFile = 160;
  session_.memory.Add(kMemoryOfAFile + target->size() + session_.directory.size());
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
  ShellSession session(report.budget());
  session.directory = report.directory();
  CommandJudge(session, report).Judge(words, {}, place, shown);
}

}  // namespace skerry::policy
