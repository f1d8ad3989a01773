#include "interpreters/interpreter.hpp"

#include <unistd.h>

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

}  // namespace

Invocation InvocationFor(const core::Code& code) {
  const std::string program(ProgramOf(code.language));
  switch (code.language) {
    case core::Language::kPython:
      return {{program, "-c", std::string(kPythonStreams) + std::string(kPythonLoader)}, code.text};
    case core::Language::kJavaScript:
      return {{program, "--experimental-vm-modules", "-e", std::string(kJavaScriptLoader)}, code.text};
    case core::Language::kShell:
      return {{program, "/dev/fd/3"}, std::string(kShellPrologue) + code.text};
  }
  return {};
}

std::vector<std::string> WaitingShell() {
  return {"bash", "-c", "read -r -u 4 && exec 4<&- && . /dev/fd/3", "/dev/fd/3"};
}

std::string TextForWaitingShell(std::string_view text) {
  return std::string(kShellPrologue) + std::string(text);
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
