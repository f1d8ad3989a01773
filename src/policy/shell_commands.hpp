// From a command and its arguments to findings.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "policy/report.hpp"
#include "policy/shell_flow.hpp"

namespace skerry::policy {

// For callers that have a command as a list, which no shell reads: the arguments of a process. One that is not known is
// nullopt. `place` is where it stands in the code that is being analysed.
void AnalyseCommand(std::span<const std::optional<std::string>> argv, std::uint32_t place, Report& report);

// What earlier commands of the same script did.
struct ShellSession {
  std::string directory;                   // the current one; empty when it is not known
  std::map<std::string, ShellFlow> files;  // that were written, by their plain paths
  std::set<std::string, std::less<>> functions;
};

class CommandJudge {
 public:
  CommandJudge(ShellSession& session, Report& report) : session_(session), report_(report) {}

  // Findings are reported at `place`, with `words` as their text.
  void Judge(ShellArgv argv, const ShellFlow& input, std::uint32_t place, std::string_view words);

  // False for a command that is the same whatever it is given.
  static bool DependsOnArguments(std::string_view command);

 private:
  using Argv = std::vector<std::string>;
  void Add(const Rule& rule) { report_.AddText(rule, place_, words_); }
  void Step();
  bool StepUnknown(std::string_view name);
  void StepWrapper(const ShellWrapper& wrapper);
  void JudgeEnvironment(ShellArgv words);

  // Commands that need more than the table; shell_special.cpp.
  struct SpecialCommand {
    std::string_view name;
    void (CommandJudge::*judge)();
  };
  static const SpecialCommand* SpecialOf(std::string_view name);
  void JudgeRemove();
  void JudgeFind();
  void JudgeFindAction(std::size_t at, const std::vector<std::string>& paths);
  void JudgeDirectory();
  void JudgeEval();
  void JudgeSource();
  void JudgeTrap();
  void JudgeAlias();
  void JudgeAwk();
  void JudgeSed();
  void JudgeByTable(std::string_view name);

  void JudgeInterpreter(const ShellInterpreter& interpreter);
  void RunCode(const ShellInterpreter* interpreter, std::string_view code);
  void RunFlow(const ShellInterpreter* interpreter, const ShellFlow& flow);
  bool RunFile(const ShellInterpreter* interpreter, std::string_view path);
  void RecordDownload(std::string_view name);

  [[nodiscard]] bool Fits(const ShellRow& row, std::string_view name) const;
  // An operand is such a path.
  [[nodiscard]] bool Names(bool (*is_one)(std::string_view), ShellArgv argv) const;

  ShellSession& session_;
  Report& report_;
  ShellArgv argv_;
  Argv filled_;  // where the arguments are not those that stand in the code
  ShellFlow input_;
  std::uint32_t place_ = 0;
  std::string_view words_;
};

}  // namespace skerry::policy
