// Commands that run code: given as text, by a file, or through their standard input.
#include <algorithm>
#include <utility>

#include "policy/shell_commands.hpp"
#include "policy/shell_paths.hpp"
#include "policy/shell_rules.hpp"

namespace skerry::policy {
namespace {

constexpr std::size_t kLongestPreamble = 4096;
constexpr int kMostCopies = 8;  // of copies of files that one command runs

// The interpreter that a file's first line names.
const ShellInterpreter* InterpreterIn(std::string_view script) {
  const std::string_view line = script.substr(0, script.find('\n'));
  if (!line.starts_with("#!")) return ShellInterpreterOf("sh");
  for (const std::string_view name : {"python", "node", "perl", "ruby", "php"})
    if (line.contains(name)) return ShellInterpreterOf(name);
  return ShellInterpreterOf("sh");
}

// Reads an awk program as far as is needed to tell a redirect from a comparison and a pipe from a regular expression.
class AwkProgram {
 public:
  explicit AwkProgram(std::string_view text) : text_(text) {}

  // `system(…)`, `"command" | getline`, `print | "command"`, `print > "file"`, `@load`.
  bool RunsOrWrites() {
    while (at_ < text_.size() && !found_) Step();
    return found_;
  }

 private:
  static bool IsWordCharacter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  }

  void Step() {
    const char c = text_[at_];
    if (c == '"' || (c == '/' && !IsWordCharacter(last_) && !std::string_view(")]$\"").contains(last_))) {
      SkipQuoted(c);
    } else if (c == '#') {
      at_ = std::min(text_.find('\n', at_), text_.size());
    } else if (IsWordCharacter(c)) {
      TakeWord();
    } else {
      TakeSign(c);
    }
  }

  void SkipQuoted(char quote) {
    for (++at_; at_ < text_.size() && text_[at_] != quote; ++at_)
      if (text_[at_] == '\\') ++at_;
    ++at_;
    last_ = '"';
  }

  void TakeWord() {
    const std::size_t begin = at_;
    while (at_ < text_.size() && IsWordCharacter(text_[at_])) ++at_;
    const std::string_view word = text_.substr(begin, at_ - begin);
    const std::size_t next = std::min(text_.find_first_not_of(" \t", at_), text_.size());
    found_ = found_ || (word == "system" && text_.substr(next).starts_with('('));
    last_ = 'a';
    if (word != "print" && word != "printf" && word != "return" && word != "in") return;
    last_ = ' ';
    if (word.starts_with("print")) printing_ = true;
    if (word.starts_with("print")) depth_ = 0;
  }

  void TakeSign(char c) {
    ++at_;
    const bool twice = at_ < text_.size() && text_[at_] == c;
    if (c == '|' && twice) {
      ++at_;
    } else if (c == '|' || c == '@') {
      found_ = true;
    } else if (c == '>' && printing_ && depth_ == 0) {
      const std::size_t target = std::min(text_.find_first_not_of("> \t", at_), text_.size());
      const std::string_view file = text_.substr(target);
      found_ = !file.starts_with("\"/dev/stderr\"") && !file.starts_with("\"/dev/stdout\"");
    } else if (c == '(' || c == ')') {
      depth_ += c == '(' ? 1 : -1;
    } else if (c == ';' || c == '}' || c == '\n') {
      printing_ = false;
    }
    if (c != ' ' && c != '\t') last_ = c;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  char last_ = ' ';        // the last character that was no blank
  bool printing_ = false;  // in a print statement
  int depth_ = 0;          // of parentheses in that statement
  bool found_ = false;
};

// A script of sed, command by command.
class SedScript {
 public:
  explicit SedScript(std::string_view text) : text_(text) {}

  // `s/x/y/e`, `e command`, `w file`.
  bool RunsOrWrites() {
    while (at_ < text_.size() && !found_) {
      SkipAddresses();
      if (at_ < text_.size()) TakeCommand(text_[at_++]);
    }
    return found_;
  }

 private:
  void SkipSection(char delimiter) {
    for (; at_ < text_.size() && text_[at_] != delimiter; ++at_)
      if (text_[at_] == '\\') ++at_;
    ++at_;
  }

  // Skips a pattern. Inside of brackets the delimiter does not end it, and the first character there is taken
  // literally.
  void SkipPattern(char delimiter) {
    for (; at_ < text_.size() && text_[at_] != delimiter; ++at_) {
      if (text_[at_] == '\\') ++at_;
      if (at_ >= text_.size() || text_[at_] != '[' || (at_ > 0 && text_[at_ - 1] == '\\')) continue;
      const std::size_t first = at_ + (text_.substr(at_).starts_with("[^") ? 3 : 2);
      if (first < open_until_) continue;
      const std::size_t end = std::min(text_.find_first_of("]\n", first), text_.size());
      if (end < text_.size() && text_[end] == ']') {
        at_ = end;
      } else {
        open_until_ = end;
      }
    }
    ++at_;
  }

  void SkipAddresses() {
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '/') {
        ++at_;
        SkipPattern('/');
      } else if (c == '\\' && at_ + 1 < text_.size()) {
        at_ += 2;
        SkipPattern(text_[at_ - 1]);
      } else if (std::string_view(" \t\n;{}0123456789$,+~!IM").contains(c)) {
        ++at_;
      } else {
        return;
      }
    }
  }

  void TakeCommand(char c) {
    if ((c == 's' || c == 'y') && at_ < text_.size()) {
      const char delimiter = text_[at_++];
      if (c == 's') SkipPattern(delimiter);
      if (c == 'y') SkipSection(delimiter);
      SkipSection(delimiter);
      if (c == 's') TakeFlags();
    } else if (c == 'w' || c == 'W') {
      TakeFile();
    } else if (c == 'e') {
      found_ = true;
    } else if (c == 'b' || c == 't' || c == 'T' || c == ':') {
      at_ = std::min(text_.find_first_of(";\n", at_), text_.size());
    } else if (std::string_view("aicrR#").contains(c)) {
      SkipSection('\n');
    }
  }

  void TakeFlags() {
    for (; at_ < text_.size() && std::string_view("gpiImMew0123456789").contains(text_[at_]); ++at_) {
      if (text_[at_] == 'e') found_ = true;
      if (text_[at_] != 'w') continue;
      ++at_;
      return TakeFile();
    }
  }

  void TakeFile() {
    at_ = std::min(text_.find_first_not_of(" \t", at_), text_.size());
    const std::size_t end = std::min(text_.find('\n', at_), text_.size());
    found_ = found_ || !IsHarmlessDevice(text_.substr(at_, end - at_));
    at_ = end;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::size_t open_until_ = 0;  // no bracket closes before this place
  bool found_ = false;
};

}  // namespace

void CommandJudge::JudgeInterpreter(const ShellInterpreter& interpreter) {
  const bool is_shell = interpreter.language == core::Language::kShell;
  const auto module = interpreter.language == core::Language::kPython ? ModuleOf(argv_) : std::nullopt;
  if (module) {
    ReferToOptions(interpreter, argv_.first(module->first_argument));
    return JudgeModule(interpreter, *module);
  }
  const Arguments read =
      ReadArguments(argv_, {.value_letters = interpreter.value_letters,
                            .value_options = interpreter.value_options,
                            .code_letters = interpreter.code_letters,
                            .code_options = interpreter.code_options,
                            .code = is_shell ? OptionSyntax::Code::kFirstOperand : OptionSyntax::Code::kValue});
  std::size_t at = read.first_operand;
  if (at < argv_.size() && argv_[at] == "run" && ListsWord("deno bun", BaseName(argv_[0]))) ++at;
  if (at < argv_.size() && argv_[at].contains("://")) Add(kShellDownloadRun);
  ReferToOptions(interpreter, argv_.first(at));
  if (const auto file = is_shell ? ValueOfOption(argv_.first(at), "--rcfile --init-file") : std::nullopt)
    RunFile(&interpreter, *file);
  // Behind the code or the file stand the name and the arguments of the program.
  const ShellArgv behind = argv_.subspan(std::min(at + 1, argv_.size()));
  for (const std::string& code : read.code) RunCode(&interpreter, code, behind);
  if (read.has_code) return Add(kShellNestedCode);
  if (at + 1 < argv_.size() && argv_[at] == "eval" && BaseName(argv_[0]) == "deno")
    return RunCode(&interpreter, argv_[at + 1]);
  const bool reads_input = is_shell && HasOption(argv_.first(at), "-s");
  const bool from_input = at >= argv_.size() || reads_input;
  const bool only_checks = is_shell && HasOption(argv_.first(at), "-n") && !HasOption(argv_.first(at), "-i");
  const bool runs_nothing = HasOption(argv_.first(at), "--version --help") || only_checks;
  const std::string_view file = from_input ? std::string_view("-") : std::string_view(argv_[at]);
  const ShellArgv arguments = reads_input ? argv_.subspan(at) : behind;
  if (runs_nothing || !RunFile(&interpreter, file, arguments)) Add(kShellCommand);
}

void CommandJudge::Refer(CodeReference::Kind kind, const ShellInterpreter* interpreter, std::string_view name) {
  CodeReference reference{.kind = kind, .name = std::string(name)};
  if (interpreter != nullptr) reference.language = interpreter->language;
  reference.is_foreign = interpreter != nullptr && !interpreter->language;
  if (kind == CodeReference::Kind::kModule) reference.directory = session_.directory;
  report_.Refer(reference, place_);
  if (kind != CodeReference::Kind::kModule) return;
  for (const std::string& place : session_.places) {
    reference.directory = place;
    report_.Refer(reference, place_);
  }
}

void CommandJudge::ReferToScript(const ShellInterpreter* interpreter, std::string_view path) {
  Refer(CodeReference::Kind::kScript, interpreter, PlainPath(path, session_.directory));
  if (path.starts_with('/') || path.starts_with(kShellHome)) return;
  if (session_.has_more_places) Add(kShellUnknownCode);
  report_.budget().Spend(session_.places.size() * WorkOfReading(path.size() + session_.directory.size()));
  for (const std::string& place : session_.places)
    Refer(CodeReference::Kind::kScript, interpreter, PlainPath(path, place));
}

// Files that are loaded before the code itself: `node -r ./x`; with `-i` more code is read after it.
void CommandJudge::ReferToOptions(const ShellInterpreter& interpreter, ShellArgv options) {
  if (interpreter.language == core::Language::kJavaScript)
    for (const std::string& module : ValuesOfOption(options, "-r --require --import --loader --experimental-loader"))
      module.contains(kShellHole) ? Add(kShellUnknownCode) : Refer(CodeReference::Kind::kModule, &interpreter, module);
  if (HasOption(options, "-i --interactive") && !options.empty()) ReferToInput(&interpreter);
}

void CommandJudge::ReferToSearchPath(const SearchVariable& variable, std::string_view directories) {
  constexpr int kMostDirectories = 64;
  for (int count = 0; !directories.empty() && count < kMostDirectories; ++count) {
    const std::size_t end = std::min(directories.find(':'), directories.size());
    const std::string_view directory = directories.substr(0, end);
    directories.remove_prefix(std::min(end + 1, directories.size()));
    if (IsStandardDirectory(directory) || directory.contains(kShellHole) || directory.contains(kShellHome)) continue;
    report_.Refer({.kind = CodeReference::Kind::kSearchPath,
                   .language = variable.language,
                   .name = PlainPath(directory, session_.directory)},
                  place_);
  }
  if (!directories.empty()) Add(kShellUnknownCode);
}

void CommandJudge::RunCode(const ShellInterpreter* interpreter, std::string_view code, ShellArgv arguments) {
  Add(kShellNestedCode);
  if (!interpreter->language) return Add(kUnknownLanguage);
  // In shell code it depends on where the mark stands; the rest shows when that code is analysed.
  const bool is_shell = *interpreter->language == core::Language::kShell;
  const std::size_t start = std::min(code.find_first_not_of(" \t\n"), code.size());
  const std::string_view hidden = is_shell ? code.substr(start, 1) : code;
  if (hidden.contains(kShellNetwork)) Add(kShellDownloadRun);
  if (hidden.contains(kShellDecoded)) Add(kShellHiddenCode);
  const bool only_holes = code.find_first_not_of(std::string_view("\x01 \t\n", 4)) == std::string_view::npos;
  if (only_holes && code.contains(kShellHole)) return Add(kShellUnknownCode);
  if (is_shell) return RunShellCode(code, arguments);
  report_.Nest(*interpreter->language, code, place_, session_.directory);
}

// Runs nested shell code with all that it can see of the code around it: arguments, variables, and its input.
void CommandJudge::RunShellCode(std::string_view code, ShellArgv arguments) {
  std::string whole;
  if (code.contains('$') && variables_ != nullptr) whole = variables_->AssignmentsFor(code);
  if (code.contains('$') && !arguments.empty()) {
    whole += "set --";
    for (const std::string& word : arguments)
      if (whole.size() < kLongestPreamble) whole += ' ' + InQuotes(word);
    whole += '\n';
  }
  const bool network = input_.kind == ShellFlow::Kind::kNetwork;
  const bool reads = network || input_.kind == ShellFlow::Kind::kDecoded;
  if (whole.empty() && !reads) return report_.Nest(core::Language::kShell, code, place_, session_.directory);
  if (reads) whole += network ? "curl - | {\n" : "base64 -d | {\n";
  whole += code;
  if (reads) whole += "\n}";
  report_.Nest(core::Language::kShell, whole, place_, session_.directory);
}

void CommandJudge::RunFlow(const ShellInterpreter* interpreter, const ShellFlow& flow, ShellArgv arguments) {
  switch (flow.kind) {
    case ShellFlow::Kind::kNone:
      ReferToInput(interpreter);
      return Add(kShellCommand);
    case ShellFlow::Kind::kText:
      return RunCode(interpreter, flow.text, arguments);
    case ShellFlow::Kind::kFile:
      if (IsStandardInput(flow.text)) ReferToInput(interpreter);
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

// Without an interpreter the file's first line names one. False when nothing is known of the file.
bool CommandJudge::RunFile(const ShellInterpreter* interpreter, std::string_view path, ShellArgv arguments) {
  constexpr std::string_view kInline = "/dev/fd/\x0e";
  if (IsStandardInput(path)) {
    const ShellFlow input = std::exchange(input_, {});
    RunFlow(interpreter != nullptr ? interpreter : ShellInterpreterOf("sh"), input, arguments);
    return true;
  }
  if (path.starts_with(kInline)) {
    RunCode(interpreter != nullptr ? interpreter : ShellInterpreterOf("sh"), path.substr(kInline.size()), arguments);
  } else if (path.contains(kShellNetwork)) {
    Add(kShellDownloadRun);
  } else if (path.contains(kShellDecoded)) {
    Add(kShellHiddenCode);
  } else if (path.contains(kShellHole) && (path.starts_with("/dev/fd/") || session_.has_unknown_download)) {
    Add(kShellUnknownCode);
  } else if (const auto file = session_.files.find(PlainPath(path, session_.directory)); file != session_.files.end()) {
    if (file->second.kind == ShellFlow::Kind::kFile) {
      ReferToScript(interpreter, path);  // in case the script could not write the file
      if (++copies_ > kMostCopies) {
        Add(kShellUnknownCode);
        return true;
      }
    }
    RunFlow(interpreter != nullptr ? interpreter : InterpreterIn(file->second.text), file->second, arguments);
  } else if (path.contains(kShellHole) || (interpreter != nullptr && path.find_first_of("*?[") != path.npos)) {
    if (interpreter != nullptr) Add(kShellUnknownCode);
    return interpreter != nullptr;
  } else {
    ReferToScript(interpreter, path);
    return false;
  }
  return true;
}

// The program files of awk and sed. Only a program that stands in the code itself can be read here.
bool CommandJudge::TakeProgramFiles(ShellArgv own, std::string_view options, std::vector<std::string>& programs) {
  const std::vector<std::string> files = ValuesOfOption(own, options);
  for (const std::string& file : files) {
    if (IsStandardInput(file) && input_.kind == ShellFlow::Kind::kText) {
      programs.push_back(input_.text);
    } else if (!RunFile(Foreign(), file)) {
      Add(kShellCommand);
    }
  }
  return !files.empty();
}

void CommandJudge::JudgeAwk() {
  const auto runs = [](const std::string& word) { return AwkProgram(word).RunsOrWrites(); };
  const Arguments read = ReadArguments(argv_, {.value_letters = "FvfEil",
                                               .value_options = "--assign --field-separator --file --include --load",
                                               .code_letters = "e",
                                               .code_options = "--source"});
  std::vector<std::string> programs = read.code;
  const bool has_file = TakeProgramFiles(argv_.first(read.first_operand), "-f --file -E --exec", programs);
  if (programs.empty() && !has_file && read.first_operand < argv_.size()) programs.push_back(argv_[read.first_operand]);
  const std::string hole(1, kShellHole);
  if (std::ranges::find(programs, hole) != programs.end()) Add(kShellUnknownCode);
  if (std::ranges::any_of(programs, runs)) Add(kUnknownLanguage);
  JudgeByTable(BaseName(argv_[0]));
}

void CommandJudge::JudgeSed() {
  const Arguments read = ReadArguments(argv_, {.value_letters = "fl",
                                               .value_options = "--file --line-length",
                                               .code_letters = "e",
                                               .code_options = "--expression"});
  std::vector<std::string> scripts = read.code;
  const bool has_file = TakeProgramFiles(argv_.first(read.first_operand), "-f --file", scripts);
  if (scripts.empty() && !has_file && read.first_operand < argv_.size()) scripts.push_back(argv_[read.first_operand]);
  const auto runs = [](const std::string& script) { return SedScript(script).RunsOrWrites(); };
  if (std::ranges::any_of(scripts, runs)) Add(kUnknownLanguage);
  JudgeByTable("sed");
}

}  // namespace skerry::policy
