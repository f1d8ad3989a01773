#include "policy/local_guard.hpp"

#include <algorithm>
#include <array>
#include <string_view>

namespace skerry::policy {
namespace {

// Whether a word of a command is an option like -r, -R, -rf, --recursive.
bool IsRecursive(std::string_view text) {
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find_first_of(" \t\n"));
    text.remove_prefix(std::min(word.size() + 1, text.size()));
    if (word.starts_with("--recursive")) return true;
    if (word.starts_with('-') && !word.starts_with("--") && word.find_first_of("rR") != std::string_view::npos)
      return true;
  }
  return false;
}

bool IsBlocked(const core::Finding& finding) {
  static constexpr std::array<std::string_view, 4> kNever = {"shell.privileges", "shell.system", "shell.run-later",
                                                             "shell.unknown-code"};
  if (finding.reject || finding.level == core::RiskLevel::kCritical) return true;
  if (finding.rule == "shell.remove") return IsRecursive(finding.text);
  return std::ranges::find(kNever, finding.rule) != kNever.end();
}

}  // namespace

std::string BlockedLocally(const core::RiskAssessment& risk) {
  const auto found = std::ranges::find_if(risk.findings, IsBlocked);
  if (found != risk.findings.end())
    return found->explanation + " (" + found->rule + ", line " + std::to_string(found->line) + ")";
  const bool grave =
      risk.suggested_sandbox == core::SuggestedSandbox::kReject || risk.level == core::RiskLevel::kCritical;
  return grave ? risk.reason : "";
}

}  // namespace skerry::policy
