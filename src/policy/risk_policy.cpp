#include "policy/risk_policy.hpp"

#include <algorithm>
#include <array>

#include "base/sha256.hpp"

namespace skerry::policy {
namespace {

using core::RiskLevel;

constexpr std::size_t kMostFindings = 500;

std::string LowerCase(std::string_view text) {
  std::string lower(text);
  for (char& c : lower)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return lower;
}

void AnalyseBrowser(std::string_view action, Report& report) {
  const std::string lower = LowerCase(action);
  bool sensitive = false;
  for (const std::string_view word : {"password", "credit", "pay"}) {
    const std::size_t at = lower.find(word);
    if (at == std::string::npos) continue;
    sensitive = true;
    report.Add(kBrowserSensitive, action, static_cast<std::uint32_t>(at), static_cast<std::uint32_t>(at + word.size()));
  }
  if (!sensitive) report.Add(kBrowserAction, action, 0, static_cast<std::uint32_t>(action.size()));
}

bool IsBlank(std::string_view content) {
  return content.find_first_not_of(" \t\r\n") == std::string_view::npos;
}

void Analyse(std::string_view type, std::string_view content, Report& report) {
  if (type == "browser") return AnalyseBrowser(content, report);
  const auto language = core::ParseLanguage(type);
  if (!language) return report.AddText(kUnknownLanguage, 0, content);
  if (IsBlank(content)) return;
  switch (*language) {
    case core::Language::kPython:
      return AnalysePython(content, report);
    case core::Language::kJavaScript:
      return AnalyseJavaScript(content, report);
    case core::Language::kShell:
      return AnalyseShell(content, report);
  }
}

// Keeps those that a person would read, of findings that are sorted by gravity.
void KeepGravest(core::RiskAssessment& assessment) {
  std::map<std::string, std::size_t> counts;  // by rule
  std::vector<core::Finding> kept;
  for (core::Finding& finding : assessment.findings) {
    if (kept.size() < kMostFindings && counts[finding.rule]++ < kMostOfOneRule)
      kept.push_back(std::move(finding));
    else
      ++assessment.left_out;
  }
  assessment.findings = std::move(kept);
}

std::string ReasonFor(const core::RiskAssessment& assessment) {
  if (assessment.findings.empty()) return "Nothing dangerous was found.";
  const core::Finding& gravest = assessment.findings.front();
  std::string reason = gravest.explanation + " (" + gravest.rule + ", ";
  if (!gravest.source.empty()) reason += gravest.source + " ";
  reason += "line " + std::to_string(gravest.line);
  const std::size_t more = assessment.findings.size() - 1 + assessment.left_out;
  if (more > 0) reason += "; " + std::to_string(more) + (more == 1 ? " more finding" : " more findings");
  return reason + ")";
}

}  // namespace

const Rule kBrowserSensitive{"browser.sensitive", RiskLevel::kHigh,
                             "The action touches a password, a credit card or a payment."};
const Rule kBrowserAction{"browser.action", RiskLevel::kLow, "An ordinary action of a browser."};

const Rule kFedCode{"code.fed", RiskLevel::kHigh, "Runs what it is fed while it runs, which nobody has seen."};
const Rule kTooMuchCode{"code.too-much", RiskLevel::kHigh, "Runs more files of the workspace than were looked at."};
const Rule kBinaryCode{"code.binary", RiskLevel::kHigh, "Imports a file of the workspace that is no text."};

core::RiskAssessment RiskPolicy::Assess(std::string_view type, std::string_view content) const {
  Budget budget(Budget::LimitsFor(content.size()));
  return *Assess(type, content, budget);
}

std::optional<core::RiskAssessment> RiskPolicy::Assess(std::string_view type, std::string_view content, Budget& budget,
                                                       std::vector<CodeReference>* references) const {
  Report report(content, options_.extras, budget);
  Analyse(type, content, report);
  if (budget.IsCancelled()) return std::nullopt;
  core::RiskAssessment assessment{.findings = report.Findings()};
  ApplyRules(assessment);
  Conclude(assessment, content, report.needs_browser());
  if (references != nullptr) *references = report.References();
  if (type == "browser") assessment.suggested_sandbox = core::SuggestedSandbox::kBrowser;
  return assessment;
}

void RiskPolicy::Join(core::RiskAssessment& assessment, core::RiskAssessment other, const std::string& source) {
  for (core::Finding& finding : other.findings) {
    if (finding.source.empty()) finding.source = source;
    assessment.findings.push_back(std::move(finding));
  }
  assessment.left_out += other.left_out;
  SortByGravity(assessment.findings);
  KeepGravest(assessment);
  assessment.level = std::max(assessment.level, other.level);
  assessment.reason = ReasonFor(assessment);
  assessment.requires_confirmation |= other.requires_confirmation;
  assessment.requires_isolation |= other.requires_isolation;
  assessment.suggested_sandbox = std::max(assessment.suggested_sandbox, other.suggested_sandbox);
  for (std::string& lowering : other.lowerings)
    if (std::ranges::find(assessment.lowerings, lowering) == assessment.lowerings.end())
      assessment.lowerings.push_back(std::move(lowering));
}

void RiskPolicy::Note(core::RiskAssessment& assessment, const Rule& rule, std::string text,
                      const std::string& source) const {
  core::RiskAssessment other{.findings = {{.rule = std::string(rule.id),
                                           .level = rule.level,
                                           .text = std::move(text),
                                           .explanation = std::string(rule.explanation)}}};
  ApplyRules(other);
  Conclude(other, "", false);
  Join(assessment, std::move(other), source);
}

void RiskPolicy::ApplyRules(core::RiskAssessment& assessment) const {
  std::set<std::string> told;
  const auto tell = [&](const core::Finding& finding, const std::string& what) {
    if (told.insert(finding.rule).second)
      assessment.lowerings.push_back("rule " + finding.rule + " (" + std::string(NameOf(finding.level)) + ") is " +
                                     what);
  };
  std::vector<core::Finding> kept;
  for (core::Finding& finding : assessment.findings) {
    const auto change = options_.rules.find(finding.rule);
    if (change == options_.rules.end()) {
      kept.push_back(std::move(finding));
      continue;
    }
    const auto level = change->second.level;
    if (!level) {
      tell(finding, "silenced by the configuration");
      continue;
    }
    const bool lower = *level < finding.level || (finding.reject && *level < RiskLevel::kCritical);
    if (lower) tell(finding, "lowered to " + std::string(NameOf(*level)) + " by the configuration");
    finding.reject = finding.reject && !lower;
    finding.level = *level;
    kept.push_back(std::move(finding));
  }
  SortByGravity(kept);
  assessment.findings = std::move(kept);
}

void RiskPolicy::Conclude(core::RiskAssessment& assessment, std::string_view content, bool needs_browser) const {
  bool reject = false;
  for (const core::Finding& finding : assessment.findings) {
    assessment.level = std::max(assessment.level, finding.level);
    reject |= finding.reject;
  }
  KeepGravest(assessment);
  assessment.reason = ReasonFor(assessment);
  assessment.requires_isolation = assessment.level >= RiskLevel::kMedium;
  assessment.requires_confirmation =
      (options_.confirm == ConfirmFrom::kHigh && assessment.level >= RiskLevel::kHigh) ||
      (options_.confirm == ConfirmFrom::kCritical && assessment.level >= RiskLevel::kCritical);
  using enum core::SuggestedSandbox;
  assessment.suggested_sandbox = assessment.requires_isolation ? kIsolated : kSubprocess;
  if (needs_browser) assessment.suggested_sandbox = kBrowser;
  if (reject && options_.reject_as_confirmation) {
    assessment.lowerings.emplace_back("what would be refused is asked about, by the configuration");
    assessment.requires_confirmation = true;
    reject = false;
  }
  const bool allowed = (reject || assessment.requires_confirmation) && !options_.allowed.empty() &&
                       options_.allowed.contains(base::Sha256Hex(content));
  if (allowed) {
    assessment.lowerings.emplace_back("this content is always allowed, by its SHA-256 in the configuration");
    assessment.requires_confirmation = false;
    reject = false;
  }
  if (!reject) return;
  assessment.suggested_sandbox = kReject;
  assessment.requires_confirmation = true;
}

}  // namespace skerry::policy
