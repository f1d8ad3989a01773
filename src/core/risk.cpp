#include "core/risk.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

#include "core/names.hpp"

namespace skerry::core {
namespace {

constexpr std::array<std::string_view, 5> kLevels = {"safe", "low", "medium", "high", "critical"};

constexpr std::array kSandboxes = {std::pair{SuggestedSandbox::kSubprocess, std::string_view("subprocess")},
                                   std::pair{SuggestedSandbox::kIsolated, std::string_view("isolated")},
                                   std::pair{SuggestedSandbox::kBrowser, std::string_view("browser sandbox")},
                                   std::pair{SuggestedSandbox::kReject, std::string_view("REJECT")}};

std::string UpperCase(std::string_view text) {
  std::string upper(text);
  std::ranges::transform(upper, upper.begin(), [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return upper;
}

}  // namespace

std::string_view NameOf(RiskLevel level) {
  return kLevels.at(static_cast<std::size_t>(level));
}

base::Result<RiskLevel> ParseRiskLevel(std::string_view name) {
  const auto found = std::ranges::find(kLevels, name);
  if (found == kLevels.end())
    return base::Err(base::Code::kInvalidArgument,
                     "unknown risk level '" + std::string(name) + "'; use safe, low, medium, high or critical");
  return static_cast<RiskLevel>(found - kLevels.begin());
}

std::string_view NameOf(SuggestedSandbox sandbox) {
  return NameIn(kSandboxes, sandbox);
}

std::optional<SuggestedSandbox> ParseSuggestedSandbox(std::string_view name) {
  return ValueIn(kSandboxes, name);
}

RiskSummary RiskAssessment::Summary() const {
  return {.assessed = true,
          .level = level,
          .reason = reason,
          .requires_confirmation = requires_confirmation,
          .requires_isolation = requires_isolation,
          .suggested_sandbox = suggested_sandbox,
          .detected_patterns = DetectedPatterns(),
          .lowerings = lowerings};
}

std::vector<std::string> RiskAssessment::DetectedPatterns() const {
  std::vector<std::string> lines;
  lines.reserve(findings.size());
  for (const Finding& finding : findings)
    lines.push_back("[" + UpperCase(NameOf(finding.level)) + "] " + finding.rule + ": " + finding.explanation + " (" +
                    (finding.source.empty() ? "" : finding.source + " ") + "line " + std::to_string(finding.line) +
                    ")");
  return lines;
}

}  // namespace skerry::core
