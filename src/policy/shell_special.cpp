// Commands whose arguments need more than the table to be understood.
#include <algorithm>
#include <array>
#include <utility>

#include "policy/shell_commands.hpp"
#include "policy/shell_paths.hpp"
#include "policy/shell_rules.hpp"

namespace skerry::policy {
namespace {

constexpr std::size_t kLongestDirectory = 512;
constexpr std::size_t kMostPlaces = 16;
constexpr std::string_view kFindActions = "-exec -execdir -ok -okdir";
constexpr std::string_view kFindFilters =
    "-name -iname -path -ipath -wholename -regex -iregex -newer -mtime -mmin -size -empty -user -perm -inum -samefile";

}  // namespace

const CommandJudge::SpecialCommand* CommandJudge::SpecialOf(std::string_view name) {
  static constexpr auto kCommands = std::to_array<SpecialCommand>({
      {"rm", &CommandJudge::JudgeRemove},
      {"find", &CommandJudge::JudgeFind},
      {"gfind", &CommandJudge::JudgeFind},
      {"cd", &CommandJudge::JudgeDirectory},
      {"pushd", &CommandJudge::JudgeDirectory},
      {"popd", &CommandJudge::JudgeDirectory},
      {"eval", &CommandJudge::JudgeEval},
      {"source", &CommandJudge::JudgeSource},
      {".", &CommandJudge::JudgeSource},
      {"trap", &CommandJudge::JudgeTrap},
      {"alias", &CommandJudge::JudgeAlias},
      {"awk", &CommandJudge::JudgeAwk},
      {"gawk", &CommandJudge::JudgeAwk},
      {"mawk", &CommandJudge::JudgeAwk},
      {"nawk", &CommandJudge::JudgeAwk},
      {"git", &CommandJudge::JudgeGit},
      {"export", &CommandJudge::JudgeDeclaration},
      {"declare", &CommandJudge::JudgeDeclaration},
      {"typeset", &CommandJudge::JudgeDeclaration},
      {"local", &CommandJudge::JudgeDeclaration},
      {"readonly", &CommandJudge::JudgeDeclaration},
      {"read", &CommandJudge::JudgeSetting},
      {"mapfile", &CommandJudge::JudgeSetting},
      {"readarray", &CommandJudge::JudgeSetting},
      {"getopts", &CommandJudge::JudgeSetting},
      {"printf", &CommandJudge::JudgeSetting},
      {"wait", &CommandJudge::JudgeSetting},
      {"let", &CommandJudge::JudgeSetting},
      {"sed", &CommandJudge::JudgeSed},
      {"gsed", &CommandJudge::JudgeSed},
  });
  const auto found = std::ranges::find(kCommands, name, &SpecialCommand::name);
  return found == kCommands.end() ? nullptr : &*found;
}

bool CommandJudge::DependsOnArguments(std::string_view command) {
  const std::string_view name = BaseName(command);
  return SpecialOf(name) != nullptr || !ShellRowsOf(name).empty() || ShellWrapperOf(name) != nullptr ||
         ShellInterpreterOf(name) != nullptr || HasShellTrait(name, ShellTrait::kDownload) || command.contains('/') ||
         HasShellTrait(name, ShellTrait::kKeyword);
}

void CommandJudge::JudgeRemove() {
  const auto is_long = [](const std::string& word) { return word.starts_with("--r"); };
  const auto may_be_option = [](const std::string& word) {
    return word[0] == kShellHole || (word[0] == '-' && word.contains(kShellHole));
  };
  const ShellArgv before_last = argv_.subspan(1, std::max<std::size_t>(2, argv_.size()) - 2);
  const bool recursive = HasOption(argv_, "-r -R") || std::ranges::any_of(argv_, is_long) ||
                         std::ranges::any_of(before_last, may_be_option);
  Add(recursive && Names(IsSystemTree, argv_) ? kShellRemoveSystem : kShellRemove);
}

void CommandJudge::JudgeFind() {
  const ShellArgv arguments = argv_.subspan(1);
  std::size_t at = 0;
  while (at < arguments.size() && (arguments[at] == "-H" || arguments[at] == "-L" || arguments[at] == "-P")) ++at;
  std::vector<std::string> paths;
  for (; at < arguments.size() && arguments[at].find_first_of("-(!") != 0; ++at) paths.push_back(arguments[at]);
  if (paths.empty()) paths.emplace_back(".");
  const auto is_one_of = [](std::string_view list) {
    return [list](const std::string& word) { return ListsWord(list, word); };
  };
  // A filter for names or ages narrows down what is found.
  if (std::ranges::any_of(arguments, is_one_of(kFindFilters))) paths.assign(1, std::string(1, kShellHole));
  const auto is_system = [&](const std::string& path) { return IsSystemTree(PlainPath(path, session_.directory)); };
  const auto system = std::ranges::find_if(paths, is_system);
  const Found found{.path = system == paths.end() ? paths.front() : *system, .system = system != paths.end()};
  if (std::ranges::find(arguments, "-delete") != arguments.end()) Add(found.system ? kShellRemoveSystem : kShellRemove);
  const ShellArgv whole = argv_;
  JudgeByTable("find");
  for (std::size_t each = 1; each < whole.size(); ++each) {
    if (!ListsWord(kFindActions, whole[each])) continue;
    if (!report_.budget().Spend(WorkOf(whole.subspan(each)))) return;
    argv_ = whole;
    JudgeFindAction(each + 1, found);
  }
}

void CommandJudge::JudgeFindAction(std::size_t at, const Found& found) {
  Add(kShellCommand);
  Argv command;
  for (; at < argv_.size() && argv_[at] != ";" && argv_[at] != "+"; ++at) {
    std::string word = argv_[at];
    const std::size_t braces = word.find("{}");
    if (braces != std::string::npos) word.replace(braces, 2, found.path);
    command.push_back(std::move(word));
  }
  if (command.empty()) return;
  // The command removes every file that is found, one by one.
  if (found.system && ListsWord("rm unlink shred", BaseName(command[0]))) Add(kShellRemoveSystem);
  HeldMemory memory(report_.budget());
  memory.Add(WorkOf(command) + command.size() * sizeof(std::string));
  Inside(*this).Judge(command, {}, place_, words_);
  // Any file below the path may be found.
  const std::string_view name = BaseName(command[0]);
  const bool runs_files = ShellInterpreterOf(name) != nullptr || ShellWrapperOf(name) != nullptr;
  if (!runs_files || found.path == std::string_view(&kShellHole, 1)) return;
  for (std::string& word : command)
    if (word == found.path) word.assign(1, kShellHole);
  Inside(*this).Judge(command, {}, place_, words_);
}

void CommandJudge::JudgeDirectory() {
  Add(kShellCommand);
  const std::size_t at = ReadArguments(argv_, {}).first_operand;
  const bool home = at >= argv_.size();
  const std::string target = home ? std::string(1, kShellHome) : argv_[at];
  const bool back = target == "-" || BaseName(argv_[0]) == "popd";
  const bool unknown = target.find_first_of(std::string_view("\x01\x02\x03", 3)) != std::string::npos;
  const std::string before = std::exchange(session_.directory, std::string());
  if (back && !session_.places.empty()) session_.directory = session_.places.back();
  if (!back && !unknown) session_.directory = PlainPath(target, before);
  if (!back && unknown) session_.has_more_places = true;
  // A directory that is entered again and again must not grow without end.
  if (session_.directory.size() > kLongestDirectory) session_.directory.clear();
  KeepPlace(before);
}

// The last place is the previous directory.
void CommandJudge::KeepPlace(const std::string& place) {
  report_.budget().Spend(kMostPlaces * kWorkOfALookup);
  std::erase(session_.places, place);
  if (session_.places.size() >= kMostPlaces) {
    session_.has_more_places = true;
    session_.places.erase(session_.places.begin());
  }
  session_.places.push_back(place);
}

void CommandJudge::JudgeEval() {
  std::string code;
  for (const std::string& word : argv_.subspan(1)) {
    if (!code.empty()) code += ' ';
    code += word;
  }
  const bool unknown = code.contains(kShellHole);
  if (unknown && input_.kind == ShellFlow::Kind::kNetwork) Add(kShellDownloadRun);
  Add(unknown ? kShellUnknownCode : kShellNestedCode);
  RunCode(ShellInterpreterOf("sh"), code);
}

void CommandJudge::JudgeSource() {
  if (argv_.size() < 2 || !RunFile(ShellInterpreterOf("sh"), argv_[1])) Add(kShellCommand);
}

void CommandJudge::JudgeTrap() {
  Add(kShellCommand);
  const std::size_t at = ReadArguments(argv_, {}).first_operand;
  if (at + 1 < argv_.size() && argv_[at] != "-") RunCode(ShellInterpreterOf("sh"), argv_[at]);
}

void CommandJudge::JudgeAlias() {
  Add(kShellCommand);
  for (const std::string& word : argv_.subspan(1)) {
    const std::size_t equals = word.find('=');
    if (equals == std::string::npos) continue;
    constexpr std::size_t kMemoryOfAnAlias = 128;
    session_.memory.Add(kMemoryOfAnAlias + word.size());
    session_.aliases[word.substr(0, equals)] = word.substr(equals + 1);
    RunCode(ShellInterpreterOf("sh"), std::string_view(word).substr(equals + 1));
  }
}

// Settings and subcommands of git that hold shell commands.
void CommandJudge::JudgeGit() {
  const ShellInterpreter* shell = ShellInterpreterOf("sh");
  JudgeByTable("git");
  for (std::size_t at = 1; at < argv_.size(); ++at) {
    const std::string_view word = argv_[at];
    const std::size_t bang = word.starts_with("alias.") ? word.find("=!") : std::string_view::npos;
    if (bang != std::string_view::npos) RunCode(shell, word.substr(bang + 2));
    if (word.starts_with('!') && argv_[at - 1].starts_with("alias.")) RunCode(shell, word.substr(1));
  }
  const ShellArgv rest = argv_.subspan(FirstOperand("git"));
  if (rest.size() < 2) return;
  const std::string_view command = rest[0];
  if (command == "rm" && !HasOption(rest, "--cached -n --dry-run")) Add(kShellRemove);
  if (ListsWord("checkout switch branch worktree tag", command) && HasOption(rest, "-f")) Add(kShellGitDiscard);
  if (command == "stash" && ListsWord("drop clear", rest[1])) Add(kShellGitDiscard);
  if (ListsWord("rebase difftool", command))
    for (const std::string& code : ValuesOfOption(rest, "-x --exec --extcmd")) RunCode(shell, code);
  if (command == "clone" && HasOption(rest, "-c --config --template")) Add(kShellGitConfig);
  if (command == "init" && HasOption(rest, "--template")) Add(kShellGitConfig);
  if (command == "grep" && HasOption(rest, "-O")) Add(kShellGitConfig);
  if (command == "clone")
    for (const std::string& code : ValuesOfOption(rest, "-u --upload-pack")) RunCode(shell, code);
  const auto runner =
      std::ranges::find_if(rest, [](const std::string& word) { return ListsWord("foreach run", word); });
  if (!ListsWord("submodule bisect", command) || runner == rest.end()) return;
  std::string code;
  for (const std::string& word : rest.subspan(static_cast<std::size_t>(runner - rest.begin()) + 1))
    if (!word.starts_with("--")) code += word + ' ';
  RunCode(shell, code);
}

}  // namespace skerry::policy
