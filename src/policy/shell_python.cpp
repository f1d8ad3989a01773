// `python -m`: modules of the library that run code themselves.
#include <algorithm>

#include "policy/shell_commands.hpp"
#include "policy/shell_paths.hpp"
#include "policy/shell_rules.hpp"

namespace skerry::policy {
namespace {

constexpr std::size_t kMostFiles = 16;
// Modules that run what they read from their input, that run a file, and that run code in their arguments.
constexpr std::string_view kReadCode = "code asyncio IPython idlelib ptpython bpython";
constexpr std::string_view kRunFiles =
    "pdb cProfile profile trace runpy doctest coverage line_profiler kernprof memory_profiler scalene viztracer "
    "debugpy";
constexpr std::string_view kRunArguments = "timeit";

}  // namespace

std::optional<CommandJudge::PythonModule> CommandJudge::ModuleOf(ShellArgv argv) {
  for (std::size_t at = 1; at < argv.size(); ++at) {
    const std::string_view word = argv[at];
    if (word == "--check-hash-based-pycs") ++at;
    if (word.starts_with("--") && word.size() > 2) continue;
    if (!word.starts_with('-') || word.size() == 1 || word == "--") return std::nullopt;
    const std::size_t letter = word.find_first_of("mcWX", 1);
    if (letter == std::string_view::npos) continue;
    const std::string_view rest = word.substr(letter + 1);
    if (word[letter] == 'c') return std::nullopt;
    if (word[letter] == 'm' && !rest.empty()) return PythonModule{rest, at + 1};
    if (word[letter] == 'm' && at + 1 < argv.size()) return PythonModule{argv[at + 1], at + 2};
    if (rest.empty()) ++at;
  }
  return std::nullopt;
}

void CommandJudge::ReferToModule(const ShellInterpreter& python, std::string_view name) {
  if (name.contains(kShellHole)) return Add(kShellUnknownCode);
  Refer(CodeReference::Kind::kModule, &python, name);
  Refer(CodeReference::Kind::kModule, &python, std::string(name) + ".__main__");
}

void CommandJudge::JudgeModule(const ShellInterpreter& python, const PythonModule& module) {
  const ShellArgv arguments = argv_.subspan(module.first_argument);
  const std::string_view package = module.name.substr(0, module.name.find('.'));
  Add(kShellCommand);
  ReferToModule(python, module.name);
  if (ListsWord(kReadCode, package)) RunFile(&python, "-");
  if (package == "pdb") ReferToInput(&python);
  if (ListsWord(kRunArguments, package)) {
    // The arguments are lines of code, and so is the value of -s.
    for (const std::string& code : arguments.first(std::min(arguments.size(), kMostFiles)))
      if (!code.starts_with('-')) RunCode(&python, code);
    for (const std::string& code : ValuesOfOption(argv_.subspan(module.first_argument - 1), "-s --setup"))
      RunCode(&python, code);
  }
  if (!ListsWord(kRunFiles, package)) return;
  for (std::size_t at = 0; at < std::min(arguments.size(), kMostFiles); ++at) {
    if (arguments[at] == "-m" && at + 1 < arguments.size()) ReferToModule(python, arguments[at + 1]);
    if (!arguments[at].starts_with('-')) RunFile(&python, arguments[at], arguments.subspan(at + 1));
  }
}

}  // namespace skerry::policy
