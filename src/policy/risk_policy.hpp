// RiskPolicy: one assessment for everything that Skerry is asked to do (S2). Pure: the same content gives the same
// answer, and nothing is read or written.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/execution.hpp"
#include "core/risk.hpp"
#include "policy/budget.hpp"
#include "policy/report.hpp"

namespace skerry::policy {

extern const Rule kBrowserSensitive;
extern const Rule kBrowserAction;
// Rules about code that stands elsewhere.
extern const Rule kFedCode;
extern const Rule kTooMuchCode;
extern const Rule kBinaryCode;

// The level from which a person is asked.
enum class ConfirmFrom { kHigh, kCritical, kNever };

// What an organisation decides about a rule: another level, or, without one, silence.
struct RuleChange {
  std::optional<core::RiskLevel> level;
};

struct PolicyOptions {
  ConfirmFrom confirm = ConfirmFrom::kHigh;
  bool reject_as_confirmation = false;  // a person is asked about code that would be refused
  std::map<std::string, RuleChange, std::less<>> rules;
  ExtraNames extras;
  std::set<std::string, std::less<>> allowed;  // SHA-256 of contents that are never asked about or refused
};

// Thread-safe.
class RiskPolicy {
 public:
  explicit RiskPolicy(PolicyOptions options = {}) : options_(std::move(options)) {}

  // `type` is a language, "browser" or anything else; of a browser's action the content is the action, then a blank and
  // its parameters. Every lowering that the options made is in the answer.
  [[nodiscard]] core::RiskAssessment Assess(std::string_view type, std::string_view content) const;
  [[nodiscard]] core::RiskAssessment Assess(core::Language language, std::string_view code) const {
    return Assess(core::NameOf(language), code);
  }
  // As above, for a caller that wants to know what the analysis took, or may cancel it: then there is no answer. The
  // answer depends on the limits of the budget; other limits than those of Budget::LimitsFor give another answer. With
  // `references` the caller is told what other code would run (code_reference.hpp).
  [[nodiscard]] std::optional<core::RiskAssessment> Assess(std::string_view type, std::string_view content,
                                                           Budget& budget,
                                                           std::vector<CodeReference>* references = nullptr) const;

  // Adds what was found in code that the other code runs, and that stands in `source`, to its assessment. Of all that
  // is found the gravest 50 of a rule are kept, and 500 in all; the reason counts the others.
  static void Join(core::RiskAssessment& assessment, core::RiskAssessment other, const std::string& source);
  // Adds one finding, about what `text` says and what stands in `source`, as the options have it.
  void Note(core::RiskAssessment& assessment, const Rule& rule, std::string text, const std::string& source) const;

  [[nodiscard]] const PolicyOptions& options() const { return options_; }

 private:
  void ApplyRules(core::RiskAssessment& assessment) const;
  void Conclude(core::RiskAssessment& assessment, std::string_view content, bool needs_browser) const;

  PolicyOptions options_;
};

}  // namespace skerry::policy
