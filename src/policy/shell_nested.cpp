// Commands that run code: given as text, by a file, or through their standard input.
#include <algorithm>

#include "policy/shell_commands.hpp"
#include "policy/shell_paths.hpp"
#include "policy/shell_rules.hpp"

namespace skerry::policy {
namespace {

bool IsStandardInput(std::string_view path) {
  return path == "-" || path == "/dev/stdin" || path == "/dev/fd/0" || path == "/proc/self/fd/0";
}

// Who runs a file, by its first line.
const ShellInterpreter* InterpreterIn(std::string_view script) {
  const std::string_view line = script.substr(0, script.find('\n'));
  if (!line.starts_with("#!")) return ShellInterpreterOf("sh");
  for (const std::string_view name : {"python", "node", "perl", "ruby", "php"})
    if (line.contains(name)) return ShellInterpreterOf(name);
  return ShellInterpreterOf("sh");
}

}  // namespace

void CommandJudge::JudgeInterpreter(const ShellInterpreter& interpreter) {
  const bool is_shell = interpreter.language == core::Language::kShell;
  const Arguments read =
      ReadArguments(argv_, {.value_letters = interpreter.value_letters,
                            .value_options = interpreter.value_options,
                            .code_letters = interpreter.code_letters,
                            .code_options = interpreter.code_options,
                            .code = is_shell ? OptionSyntax::Code::kFirstOperand : OptionSyntax::Code::kValue});
  for (const std::string& code : read.code) RunCode(&interpreter, code);
  if (read.has_code) return Add(kShellNestedCode);
  const std::size_t at = read.first_operand;
  if (at + 1 < argv_.size() && argv_[at] == "eval" && BaseName(argv_[0]) == "deno")
    return RunCode(&interpreter, argv_[at + 1]);
  const bool from_input = at >= argv_.size() || (is_shell && HasOption(argv_.first(at), "-s"));
  const bool runs_nothing = HasOption(argv_.first(at), "--version --help");
  const std::string_view file = from_input ? std::string_view("-") : std::string_view(argv_[at]);
  if (runs_nothing || !RunFile(&interpreter, file)) Add(kShellCommand);
}

void CommandJudge::RunCode(const ShellInterpreter* interpreter, std::string_view code) {
  Add(kShellNestedCode);
  if (!interpreter->language) return Add(kUnknownLanguage);
  // In a shell's code it depends on where it stands; the rest is seen when the code is analysed.
  const bool is_shell = *interpreter->language == core::Language::kShell;
  const std::size_t start = std::min(code.find_first_not_of(" \t\n"), code.size());
  const std::string_view hidden = is_shell ? code.substr(start, 1) : code;
  if (hidden.contains(kShellNetwork)) Add(kShellDownloadRun);
  if (hidden.contains(kShellDecoded)) Add(kShellHiddenCode);
  const bool only_holes = code.find_first_not_of(std::string_view("\x01 \t\n", 4)) == std::string_view::npos;
  if (only_holes && code.contains(kShellHole)) return Add(kShellUnknownCode);
  report_.Nest(*interpreter->language, code, place_);
}

void CommandJudge::RunFlow(const ShellInterpreter* interpreter, const ShellFlow& flow) {
  switch (flow.kind) {
    case ShellFlow::Kind::kNone:
      return Add(kShellCommand);
    case ShellFlow::Kind::kText:
      return RunCode(interpreter, flow.text);
    case ShellFlow::Kind::kFile:
      if (IsStandardInput(flow.text) || !RunFile(interpreter, flow.text)) Add(kShellCommand);
      return;
    case ShellFlow::Kind::kUnknown:
      return Add(kShellUnknownCode);
    case ShellFlow::Kind::kDecoded:
      return Add(kShellHiddenCode);
    case ShellFlow::Kind::kNetwork:
      return Add(kShellDownloadRun);
  }
}

// Without an interpreter the file's first line names it. False when nothing is known of the file.
bool CommandJudge::RunFile(const ShellInterpreter* interpreter, std::string_view path) {
  if (IsStandardInput(path)) {
    RunFlow(interpreter != nullptr ? interpreter : ShellInterpreterOf("sh"), input_);
    return true;
  }
  if (path.contains(kShellNetwork)) {
    Add(kShellDownloadRun);
  } else if (path.contains(kShellDecoded)) {
    Add(kShellHiddenCode);
  } else if (path.starts_with("/dev/fd/") && path.contains(kShellHole)) {
    Add(kShellUnknownCode);
  } else if (const auto file = session_.files.find(PlainPath(path, session_.directory)); file != session_.files.end()) {
    RunFlow(interpreter != nullptr ? interpreter : InterpreterIn(file->second.text), file->second);
  } else {
    return false;
  }
  return true;
}

}  // namespace skerry::policy
