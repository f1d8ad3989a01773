// A rule: what a finding is called, how grave it is, and why. The rules of a language are a table in a file of its own.
#pragma once

#include <string_view>

#include "core/risk.hpp"

namespace skerry::policy {

enum class Verdict {
  kAssess,
  kReject,  // what has this should not run at all (S2.4)
};

struct Rule {
  std::string_view id;  // "python.eval": stands in configurations, so it stays
  core::RiskLevel level = core::RiskLevel::kSafe;
  std::string_view explanation;  // one sentence
  Verdict verdict = Verdict::kAssess;
};

// What every language can have.
inline constexpr Rule kUnparsed{"code.unparsed", core::RiskLevel::kMedium,
                                "This part does not parse, so it was only searched for known names."};
inline constexpr Rule kNotAnalysed{"code.not-analysed", core::RiskLevel::kHigh,
                                   "The code is too large or too deeply nested to be analysed."};
inline constexpr Rule kUnknownLanguage{"code.unknown-language", core::RiskLevel::kHigh,
                                       "Code in a language that is not analysed."};

}  // namespace skerry::policy
