#include "bench/command.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "base/printable.hpp"

namespace skerry::bench {
namespace {

// Far more than any command here takes, 100 containers at once included.
constexpr std::chrono::seconds kPatience{180};

base::Status Check(const std::string& output, std::string_view expected) {
  if (output == expected) return {};
  return base::Err(base::Code::kExecutionFailed, "printed '" + base::Printable(base::Excerpt(output)) +
                                                     "' instead of '" + base::Printable(expected) + "'");
}

bool NeedsQuotes(std::string_view text) {
  constexpr std::string_view kPlain = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_=+,./:@%";
  return text.empty() || text.find_first_not_of(kPlain) != std::string_view::npos;
}

// Of a text of several lines only the first is shown.
std::string Quoted(std::string_view text) {
  std::string quoted = "'";
  for (const char letter : text.substr(0, text.find('\n'))) quoted += letter == '\'' ? "'\\''" : std::string(1, letter);
  return base::Printable(quoted) + (text.contains('\n') ? " …'" : "'");
}

}  // namespace

base::Result<Sample> TimeCommand(const Command& command, std::string_view expected_output) {
  return TimeTogether(command, 1, expected_output);
}

base::Result<Sample> TimeTogether(const Command& command, std::size_t copies, std::string_view expected_output) {
  std::vector<Child> children;
  children.reserve(copies);
  std::vector<std::string> outputs;
  outputs.reserve(copies);
  const base::Deadline deadline = base::Deadline::After(kPatience);
  const auto began = Clock::now();
  for (std::size_t i = 0; i < copies; ++i) {
    SKERRY_ASSIGN_OR_RETURN(Child child, Child::Spawn(command, Input::kEmpty));
    children.push_back(std::move(child));
  }
  for (Child& child : children) {
    SKERRY_ASSIGN_OR_RETURN(std::string output, child.Finish(deadline));
    outputs.push_back(std::move(output));
  }
  const Duration total = Clock::now() - began;
  for (const std::string& output : outputs) SKERRY_RETURN_IF_ERROR(Check(output, expected_output));
  return Sample{.total = total};
}

base::Result<std::string> OutputOf(const Command& command) {
  SKERRY_ASSIGN_OR_RETURN(Child child, Child::Spawn(command, Input::kEmpty));
  return child.Finish(base::Deadline::After(kPatience));
}

std::optional<std::string> FindProgram(std::string_view name) {
  const char* const variable = ::getenv("PATH");
  std::string_view rest = variable == nullptr ? "/usr/local/bin:/usr/bin:/bin" : variable;
  while (!rest.empty()) {
    const std::string_view directory = rest.substr(0, rest.find(':'));
    rest.remove_prefix(std::min(directory.size() + 1, rest.size()));
    std::string path = std::string(directory) + "/" + std::string(name);
    if (directory.starts_with('/') && ::access(path.c_str(), X_OK) == 0) return path;
  }
  return std::nullopt;
}

std::string CommandLine(const Command& command) {
  std::string line;
  for (const std::string& argument : command.arguments) {
    if (!line.empty()) line += ' ';
    line += NeedsQuotes(argument) ? Quoted(argument) : argument;
  }
  return line;
}

std::vector<std::string> PlainEnvironment() {
  return {"PATH=/usr/local/bin:/usr/bin:/bin", "HOME=/", "LANG=C.UTF-8", "PYTHONDONTWRITEBYTECODE=1"};
}

std::vector<std::string> CallersEnvironment() {
  std::vector<std::string> variables;
  for (char** variable = ::environ; *variable != nullptr; ++variable) variables.emplace_back(*variable);
  return variables;
}

}  // namespace skerry::bench
