// What the analysis of a piece of code or text says about it (S2.1). Advice: the isolation is the boundary.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace skerry::core {

enum class RiskLevel { kSafe, kLow, kMedium, kHigh, kCritical };
std::string_view NameOf(RiskLevel level);
// "safe", "low", "medium", "high" or "critical".
base::Result<RiskLevel> ParseRiskLevel(std::string_view name);

enum class SuggestedSandbox {
  kSubprocess,  // needs no isolation
  kIsolated,
  kBrowser,  // one with a browser in it
  kReject,   // none: the content should not run at all
};
std::string_view NameOf(SuggestedSandbox sandbox);
std::optional<SuggestedSandbox> ParseSuggestedSandbox(std::string_view name);

// One thing that was found in the content.
struct Finding {
  std::string rule;  // the rule's name: "python.eval"
  RiskLevel level = RiskLevel::kSafe;
  bool reject = false;       // content with this finding should not run at all
  std::uint32_t line = 1;    // where the finding begins in the content, from 1
  std::uint32_t column = 1;  // in characters, from 1
  std::string text;  // the text that was matched, the first 80 bytes; for a match in a string, that string's text
  std::string explanation;  // one sentence
  std::string source;       // where the text is, when not in the content itself: a path, "variables", "input"
};

// An assessment without the findings one by one: what a result and a record have of it.
struct RiskSummary {
  bool assessed = false;  // false: nobody came to assess it
  RiskLevel level = RiskLevel::kSafe;
  std::string reason;  // one line
  bool requires_confirmation = false;
  bool requires_isolation = false;
  SuggestedSandbox suggested_sandbox = SuggestedSandbox::kSubprocess;
  std::vector<std::string> detected_patterns;  // a line for each finding
  std::vector<std::string> lowerings;

  bool operator==(const RiskSummary&) const = default;
};

struct RiskAssessment {
  RiskLevel level = RiskLevel::kSafe;
  std::string reason;  // one line
  bool requires_confirmation = false;
  bool requires_isolation = false;
  SuggestedSandbox suggested_sandbox = SuggestedSandbox::kSubprocess;
  std::vector<Finding> findings;       // the gravest first, then as they stand in the content
  std::size_t left_out = 0;            // findings that were dropped because there are too many
  std::vector<std::string> lowerings;  // findings that the organisation's rules made less grave, in words; to be logged

  // A line for each finding: "[CRITICAL] python.eval: Runs text as code. (line 3)".
  [[nodiscard]] std::vector<std::string> DetectedPatterns() const;
  [[nodiscard]] RiskSummary Summary() const;
};

}  // namespace skerry::core
