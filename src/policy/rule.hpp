// A rule: what a finding is called, how grave it is, and why. The rules of a language are a table in a file of its own.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

#include "core/risk.hpp"

namespace skerry::policy {

enum class Verdict {
  kAssess,
  kReject,  // code that breaks this rule should not run at all (S2.4)
};

struct Rule {
  std::string_view id;  // "python.eval": configurations name it, so it never changes
  core::RiskLevel level = core::RiskLevel::kSafe;
  std::string_view explanation;  // one sentence
  Verdict verdict = Verdict::kAssess;
};

// The same rule at each level.
using RuleByLevel = std::array<Rule, static_cast<std::size_t>(core::RiskLevel::kCritical) + 1>;

// The rule that code breaks by importing a module on the organisation's list, at the level that the list gives.
constexpr RuleByLevel OrganisationModule(std::string_view id) {
  RuleByLevel rules;
  for (std::size_t level = 0; level < rules.size(); ++level)
    rules[level] = {id, static_cast<core::RiskLevel>(level), "A module that this organisation has put on its list."};
  return rules;
}

// Rules that code of every language can break.
inline constexpr Rule kUnparsed{"code.unparsed", core::RiskLevel::kMedium,
                                "This part does not parse, so it was only searched for known names."};
inline constexpr Rule kNotAnalysed{"code.not-analysed", core::RiskLevel::kHigh,
                                   "The code is too large or too deeply nested to be analysed."};
inline constexpr Rule kUnknownLanguage{"code.unknown-language", core::RiskLevel::kHigh,
                                       "Code in a language that is not analysed."};

}  // namespace skerry::policy
