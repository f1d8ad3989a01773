#include "core/execution.hpp"

#include <array>

#include "base/utf8.hpp"

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

base::Status Validate(const ExecutionRequest& request) {
  constexpr std::uint64_t kMaxTimeout = 300;
  constexpr std::uint64_t kMinMemory = 16;
  constexpr std::uint64_t kMaxMemory = 1 << 20;
  constexpr std::uint64_t kMaxOutput = 102'400;
  SKERRY_RETURN_IF_ERROR(CheckCode(request.code));
  SKERRY_RETURN_IF_ERROR(CheckRange("timeout", static_cast<std::uint64_t>(request.timeout.count()), 1, kMaxTimeout));
  SKERRY_RETURN_IF_ERROR(CheckRange("memory (MB)", request.max_memory_mb, kMinMemory, kMaxMemory));
  return CheckRange("output (MB)", request.max_output_mb, 1, kMaxOutput);
}

std::string_view NameOf(OutcomeKind kind) {
  switch (kind) {
    case OutcomeKind::kExited:
      return "exited";
    case OutcomeKind::kSignalled:
      return "signalled";
    case OutcomeKind::kTimedOut:
      return "timed_out";
    case OutcomeKind::kOutOfMemory:
      return "out_of_memory";
    case OutcomeKind::kFileTooLarge:
      return "file_too_large";
    case OutcomeKind::kCancelled:
      return "cancelled";
    case OutcomeKind::kLost:
      return "lost";
    case OutcomeKind::kRejected:
      return "rejected";
  }
  return "";
}

std::string_view NameOf(StartKind kind) {
  switch (kind) {
    case StartKind::kWarm:
      return "warm";
    case StartKind::kFork:
      return "fork";
    case StartKind::kExec:
      return "exec";
  }
  return "";
}

std::string Outcome::Explanation() const {
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
