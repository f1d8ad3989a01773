#include "interpreters/interpreter.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <string_view>

namespace skerry::interpreters {

// Made from the files of src/interpreters/workers by the build.
extern const std::string_view kPythonStreams;
extern const std::string_view kPythonLoader;
extern const std::string_view kJavaScriptLoader;

namespace {

// Bash runs descriptor 3 as a script, which first closes that descriptor, on the same line as the text's first line.
constexpr std::string_view kShellPrologue = "exec 3<&-; ";

constexpr std::array<std::string_view, 3> kDirectories = {"/usr/local/bin/", "/usr/bin/", "/bin/"};

std::string_view ProgramOf(core::Language language) {
  switch (language) {
    case core::Language::kPython:
      return "python3";
    case core::Language::kJavaScript:
      return "node";
    case core::Language::kShell:
      return "bash";
  }
  return "";
}

std::vector<std::string> With(std::vector<std::string> command, const std::vector<std::string>& arguments) {
  command.insert(command.end(), arguments.begin(), arguments.end());
  return command;
}

// Bash gives these their values itself and refuses others.
bool IsBashsOwn(std::string_view name) {
  constexpr auto kOwn =
      std::to_array<std::string_view>({"BASHOPTS", "BASH_VERSINFO", "EUID", "PPID", "SHELLOPTS", "UID"});
  return std::ranges::find(kOwn, name) != kOwn.end();
}

}  // namespace

Invocation InvocationFor(const core::Code& code) {
  const std::string program(ProgramOf(code.language));
  switch (code.language) {
    case core::Language::kPython:
      return {
          With({program, "-c", std::string(kPythonStreams) + std::string(kPythonLoader), code.name}, code.arguments),
          code.text};
    case core::Language::kJavaScript:
      // Node takes what begins with a dash for its own, up to the two.
      return {With({program, "--experimental-vm-modules", "-e", std::string(kJavaScriptLoader), "--", code.name},
                   code.arguments),
              code.text};
    case core::Language::kShell:
      return {With({program, "/dev/fd/3"}, code.arguments), std::string(kShellPrologue) + code.text};
  }
  return {};
}

std::vector<std::string> WaitingShell() {
  return {"bash", "-c", "read -r -u 4 && exec 4<&- && . /dev/fd/3", "/dev/fd/3"};
}

std::string TextForWaitingShell(const core::Code& code, const std::map<std::string, std::string>& environment) {
  std::string prologue(kShellPrologue);
  for (const auto& [name, value] : environment)
    if (!IsBashsOwn(name)) prologue += "export " + name + "=" + core::ShellText({value}) + "; ";
  if (!code.arguments.empty()) prologue += "set -- " + core::ShellText(code.arguments) + "; ";
  return prologue + code.text;
}

std::string Requirement(core::Language language) {
  switch (language) {
    case core::Language::kPython:
      return "python3 (Debian package python3)";
    case core::Language::kJavaScript:
      return "node (Debian package nodejs)";
    case core::Language::kShell:
      return "bash (Debian package bash)";
  }
  return "";
}

std::optional<std::string> FindInterpreter(core::Language language) {
  for (const std::string_view directory : kDirectories) {
    std::string path = std::string(directory) + std::string(ProgramOf(language));
    if (::access(path.c_str(), X_OK) == 0) return path;
  }
  return std::nullopt;
}

std::vector<std::string> CleanEnvironment(const std::string& home, const std::string& temporary) {
  return {"PATH=/usr/local/bin:/usr/bin:/bin",
          "HOME=" + home,
          "TMPDIR=" + temporary,
          "USER=agent",
          "LOGNAME=agent",
          "SHELL=/bin/bash",
          "LANG=C.UTF-8",
          "TERM=dumb",
          "PYTHONDONTWRITEBYTECODE=1"};
}

}  // namespace skerry::interpreters
