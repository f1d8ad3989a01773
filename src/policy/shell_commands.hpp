// From a command and its arguments to findings.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "policy/report.hpp"
#include "policy/shell_environment.hpp"
#include "policy/shell_flow.hpp"
#include "policy/shell_session.hpp"
#include "policy/shell_words.hpp"

namespace skerry::policy {

// Analyses a command that is a list of words, which no shell reads: the arguments of a process. A word that is not
// known is nullopt. `place` is where the command stands in the code that is being analysed.
void AnalyseCommand(std::span<const std::optional<std::string>> argv, std::uint32_t place, Report& report);

class CommandJudge {
 public:
  // `variables` are the variables that code run by a command may see; nullptr where there are none.
  CommandJudge(ShellSession& session, Report& report, const ShellVariables* variables = nullptr)
      : session_(session), report_(report), variables_(variables) {}
  // A judge for a command that the command of `outer` runs.
  static CommandJudge Inside(const CommandJudge& outer);

  // Findings are reported at `place`, with `words` as their text.
  void Judge(ShellArgv argv, const ShellFlow& input, std::uint32_t place, std::string_view words);

  // A variable gets this value, for the commands that follow.
  void JudgeAssignment(std::string_view variable, std::string_view value, std::uint32_t place, std::string_view words);
  // The same for a value that cannot be known.
  void JudgeUnknown(std::string_view variable, std::uint32_t place, std::string_view words);

  // False for a command whose findings are the same whatever its arguments.
  static bool DependsOnArguments(std::string_view command);

 private:
  using Argv = std::vector<std::string>;
  void Add(const Rule& rule) { report_.AddText(rule, place_, words_); }
  void Step();
  bool StepUnknown(std::string_view name);
  void ExpandAlias();
  void StepXargs(ShellArgv own);
  void StepParallel(const std::vector<std::string>& code);
  void StepWrapper(const ShellWrapper& wrapper);
  void JudgeEnvironment(const ShellWrapper& wrapper);
  // Variables that get a value; shell_assignments.cpp.
  void JudgeDeclaration();
  void JudgeSetting();
  void JudgeUnknownValue(std::string_view variable);
  void JudgeVariable(std::string_view variable, std::string_view value);

  // Commands that need more than the table; shell_special.cpp.
  struct SpecialCommand {
    std::string_view name;
    void (CommandJudge::*judge)();
  };
  static const SpecialCommand* SpecialOf(std::string_view name);
  void JudgeRemove();
  void JudgeFind();
  // The gravest path that a find looks at, and whether it is one of the system.
  struct Found {
    std::string path;
    bool system;
  };
  void JudgeFindAction(std::size_t at, const Found& found);
  void JudgeDirectory();
  void KeepPlace(const std::string& place);
  void JudgeEval();
  void JudgeSource();
  void JudgeTrap();
  void JudgeAlias();
  bool TakeProgramFiles(ShellArgv own, std::string_view options, std::vector<std::string>& programs);
  void JudgeAwk();
  void JudgeSed();
  void JudgeGit();
  void JudgeByTable(std::string_view name);
  // Programs with a language of their own; shell_orders.cpp.
  static const ShellInterpreter* Foreign();
  [[nodiscard]] bool TakesOrders(std::string_view name);
  // Judges a database client. True when it reads more commands from its input.
  [[nodiscard]] bool JudgeDatabase(std::string_view name);
  void JudgeOrders(std::string_view name);
  // Judges by the first row that fits; false when none does.
  bool JudgeByRows(std::string_view name);

  void JudgeInterpreter(const ShellInterpreter& interpreter);
  // `python -m NAME`; shell_python.cpp.
  struct PythonModule {
    std::string_view name;
    std::size_t first_argument;  // of the module
  };
  static std::optional<PythonModule> ModuleOf(ShellArgv argv);
  void ReferToModule(const ShellInterpreter& python, std::string_view name);
  void JudgeModule(const ShellInterpreter& python, const PythonModule& module);
  // Analyses code that the command gives to an interpreter. `arguments` are the code's own: $1 and so on.
  void RunCode(const ShellInterpreter* interpreter, std::string_view code, ShellArgv arguments = {});
  void RunShellCode(std::string_view code, ShellArgv arguments);
  void RunFlow(const ShellInterpreter* interpreter, const ShellFlow& flow, ShellArgv arguments = {});
  bool RunFile(const ShellInterpreter* interpreter, std::string_view path, ShellArgv arguments = {});
  // Tells the report of code that stands elsewhere: in a file or module of this name, or on the standard input.
  void Refer(CodeReference::Kind kind, const ShellInterpreter* interpreter, std::string_view name = {});
  void ReferToInput(const ShellInterpreter* interpreter) { Refer(CodeReference::Kind::kInput, interpreter); }
  void ReferToOptions(const ShellInterpreter& interpreter, ShellArgv options);
  // The same for a script with this path, in every directory where the script may be by now.
  void ReferToScript(const ShellInterpreter* interpreter, std::string_view path);
  void ReferToSearchPath(const SearchVariable& variable, std::string_view directories);
  void RecordDownload(std::string_view name);

  [[nodiscard]] bool Fits(const ShellRow& row, std::string_view name) const;
  [[nodiscard]] std::size_t FirstOperand(std::string_view name) const;
  // Whether an operand is such a path.
  [[nodiscard]] bool Names(bool (*is_one)(std::string_view), ShellArgv argv) const;

  ShellSession& session_;
  Report& report_;
  const ShellVariables* variables_;
  ShellArgv argv_;
  Argv filled_;  // where the arguments are not those that stand in the code
  ShellFlow input_;
  std::optional<std::string> outer_directory_;  // where a wrapper runs the command elsewhere
  std::uint32_t place_ = 0;
  std::string_view words_;
  int depth_ = 0;   // of commands that run commands
  int copies_ = 0;  // of files that were followed
};

}  // namespace skerry::policy
