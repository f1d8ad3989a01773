#include "core/execution.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "base/printable.hpp"
#include "base/utf8.hpp"
#include "core/names.hpp"

namespace skerry::core {
namespace {

struct LanguageName {
  std::string_view name;
  Language language;
};

constexpr std::array kLanguageNames = {
    LanguageName{"python", Language::kPython},   LanguageName{"javascript", Language::kJavaScript},
    LanguageName{"shell", Language::kShell},     LanguageName{"py", Language::kPython},
    LanguageName{"python3", Language::kPython},  LanguageName{"js", Language::kJavaScript},
    LanguageName{"node", Language::kJavaScript}, LanguageName{"bash", Language::kShell},
    LanguageName{"sh", Language::kShell},
};

base::Status CheckRange(std::string_view name, std::uint64_t value, std::uint64_t low, std::uint64_t high) {
  if (value >= low && value <= high) return {};
  return base::Err(base::Code::kInvalidArgument, std::string(name) + " must be from " + std::to_string(low) + " to " +
                                                     std::to_string(high) + ", not " + std::to_string(value));
}

base::Status CheckCode(const std::string& code) {
  if (code.find_first_not_of(" \t\r\n") == std::string::npos)
    return base::Err(base::Code::kInvalidArgument, "there is no code to run");
  if (!base::IsValidUtf8(code)) return base::Err(base::Code::kInvalidArgument, "the code is not valid UTF-8");
  if (code.find('\0') != std::string::npos)
    return base::Err(base::Code::kInvalidArgument, "the code contains a NUL character");
  return {};
}

}  // namespace

std::string_view NameOf(Language language) {
  for (const LanguageName& row : kLanguageNames)
    if (row.language == language) return row.name;
  return "";
}

base::Result<Language> ParseLanguage(std::string_view name) {
  for (const LanguageName& row : kLanguageNames)
    if (row.name == name) return row.language;
  return base::Err(base::Code::kInvalidArgument,
                   "unknown language '" + base::ToValidUtf8(name) + "'; use python, javascript or shell");
}

namespace {

// The variables that decide how programs are loaded belong to the sandbox, and a line break in a value could forge
// another variable.
base::Status CheckEnvironment(const std::map<std::string, std::string>& environment) {
  for (const auto& [name, value] : environment) {
    const bool plain = !name.empty() && name.size() <= 256 && std::ranges::all_of(name, [](char c) {
      return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
    }) && (name.front() < '0' || name.front() > '9');
    if (!plain)
      return base::Err(base::Code::kInvalidArgument,
                       "not the name of an environment variable: " + base::Printable(name));
    if (name.starts_with("LD_") || name == "BASH_ENV" || name == "ENV")
      return base::Err(base::Code::kInvalidArgument, "the environment variable " + name + " may not be set");
    if (value.find_first_of(std::string_view("\0\n\r", 3)) != std::string::npos || !base::IsValidUtf8(value))
      return base::Err(base::Code::kInvalidArgument, "the value of " + name + " is not one line of UTF-8");
  }
  return {};
}

base::Status CheckArguments(const std::vector<std::string>& arguments) {
  constexpr std::size_t kMost = 100'000;
  std::size_t size = 0;
  for (const std::string& argument : arguments) {
    if (argument.find('\0') != std::string::npos)
      return base::Err(base::Code::kInvalidArgument, "an argument holds a NUL byte");
    size += argument.size() + 1;
  }
  if (size <= kMost) return {};
  return base::Err(base::Code::kTooLarge, "the arguments have " + std::to_string(size) + " bytes, the most are " +
                                              std::to_string(kMost) + "; write them to a file, or to stdin");
}

}  // namespace

base::Status Validate(const ExecutionRequest& request) {
  constexpr std::uint64_t kMinMemory = 16;
  constexpr std::uint64_t kMaxMemory = 1 << 20;
  constexpr std::uint64_t kMaxOutput = 102'400;
  SKERRY_RETURN_IF_ERROR(CheckCode(request.code));
  SKERRY_RETURN_IF_ERROR(CheckRange("timeout", static_cast<std::uint64_t>(request.timeout.count()), 1,
                                    static_cast<std::uint64_t>(request.longest.count())));
  SKERRY_RETURN_IF_ERROR(CheckArguments(request.arguments));
  SKERRY_RETURN_IF_ERROR(CheckArguments(request.code_arguments));
  SKERRY_RETURN_IF_ERROR(CheckArguments({request.code_name}));
  if (!request.context.empty() && !request.code_arguments.empty())
    return base::Err(base::Code::kInvalidArgument, "a cell has no arguments: set variables in it, or run it as code");
  SKERRY_RETURN_IF_ERROR(CheckEnvironment(request.environment));
  SKERRY_RETURN_IF_ERROR(CheckRange("memory (MB)", request.max_memory_mb, kMinMemory, kMaxMemory));
  return CheckRange("output (MB)", request.max_output_mb, 1, kMaxOutput);
}

std::string ShellText(const std::vector<std::string>& arguments) {
  constexpr std::string_view kPlain = "-_./:=@%+,0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
  std::string text;
  for (const std::string& argument : arguments) {
    if (!text.empty()) text += ' ';
    if (!argument.empty() && argument.find_first_not_of(kPlain) == std::string::npos) {
      text += argument;
      continue;
    }
    text += '\'';
    for (const char c : argument) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
    text += '\'';
  }
  return text;
}

namespace {

constexpr std::array kOutcomeNames = {std::pair{OutcomeKind::kExited, std::string_view("exited")},
                                      std::pair{OutcomeKind::kSignalled, std::string_view("signalled")},
                                      std::pair{OutcomeKind::kTimedOut, std::string_view("timed_out")},
                                      std::pair{OutcomeKind::kOutOfMemory, std::string_view("out_of_memory")},
                                      std::pair{OutcomeKind::kFileTooLarge, std::string_view("file_too_large")},
                                      std::pair{OutcomeKind::kCancelled, std::string_view("cancelled")},
                                      std::pair{OutcomeKind::kLost, std::string_view("lost")},
                                      std::pair{OutcomeKind::kRejected, std::string_view("rejected")}};

constexpr std::array kStartNames = {std::pair{StartKind::kWarm, std::string_view("warm")},
                                    std::pair{StartKind::kFork, std::string_view("fork")},
                                    std::pair{StartKind::kExec, std::string_view("exec")}};

}  // namespace

std::string_view NameOf(OutcomeKind kind) {
  return NameIn(kOutcomeNames, kind);
}

std::optional<OutcomeKind> ParseOutcomeKind(std::string_view name) {
  return ValueIn(kOutcomeNames, name);
}

std::string_view NameOf(StartKind kind) {
  return NameIn(kStartNames, kind);
}

std::optional<StartKind> ParseStartKind(std::string_view name) {
  return ValueIn(kStartNames, name);
}

std::string Outcome::Explanation() const {
  if (!reason.empty() && kind != OutcomeKind::kExited && kind != OutcomeKind::kRejected) return reason;
  switch (kind) {
    case OutcomeKind::kExited:
      return "";
    case OutcomeKind::kSignalled:
      return "Killed by signal " + std::to_string(signal);
    case OutcomeKind::kTimedOut:
      return "Execution timeout (" + std::to_string(limit) + "s)";
    case OutcomeKind::kOutOfMemory:
      return "Out of memory (limit " + std::to_string(limit) + " MB)";
    case OutcomeKind::kFileTooLarge:
      return "A file grew too large (limit " + std::to_string(limit) + " MB)";
    case OutcomeKind::kCancelled:
      return "Execution cancelled";
    case OutcomeKind::kLost:
      return "The sandbox ended unexpectedly";
    case OutcomeKind::kRejected:
      return "Rejected: " + reason;
  }
  return "";
}

}  // namespace skerry::core
