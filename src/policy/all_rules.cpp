#include "policy/all_rules.hpp"

#include <map>

#include "policy/javascript_rules.hpp"
#include "policy/python_rules.hpp"
#include "policy/risk_policy.hpp"
#include "policy/shell_rules.hpp"

namespace skerry::policy {

std::vector<Rule> AllRules() {
  constexpr auto kCritical = static_cast<std::size_t>(core::RiskLevel::kCritical);
  std::vector<const Rule*> rules = {&kUnparsed,
                                    &kNotAnalysed,
                                    &kUnknownLanguage,
                                    &kFedCode,
                                    &kTooMuchCode,
                                    &kBinaryCode,
                                    &kPythonEval,
                                    &kPythonEncoding,
                                    &kPythonReflection,
                                    &kPythonFileRead,
                                    &kPythonFileWrite,
                                    &kPythonLibraryWrite,
                                    &kPythonOrganisationModule[kCritical],
                                    &kJavaScriptEval,
                                    &kJavaScriptHiddenName,
                                    &kJavaScriptReflection,
                                    &kJavaScriptDynamicRequire,
                                    &kJavaScriptOrganisationModule[kCritical],
                                    &kBrowserSensitive,
                                    &kBrowserAction};
  const auto add = [&rules](const std::vector<const Rule*>& more) {
    rules.insert(rules.end(), more.begin(), more.end());
  };
  add(PythonNames().Rules());
  add(JavaScriptNames().Rules());
  add(AllShellRules());
  std::map<std::string_view, Rule> by_name;
  for (const Rule* rule : rules) {
    const auto [found, is_new] = by_name.emplace(rule->id, *rule);
    if (!is_new && rule->level > found->second.level) found->second = *rule;
  }
  std::vector<Rule> all;
  all.reserve(by_name.size());
  for (const auto& [name, rule] : by_name) all.push_back(rule);
  return all;
}

}  // namespace skerry::policy
