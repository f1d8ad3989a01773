#include "cli/completion.hpp"

namespace skerry::cli {

std::string_view NamesAskedFor(ValueKind kind) {
  if (kind == ValueKind::kSession) return "sessions";
  return kind == ValueKind::kApproval ? "approvals" : "";
}

std::string ShellQuoted(std::string_view text) {
  std::string quoted = "'";
  for (const char letter : text) quoted += letter == '\'' ? R"('\'')" : std::string(1, letter);
  return quoted + "'";
}

}  // namespace skerry::cli
