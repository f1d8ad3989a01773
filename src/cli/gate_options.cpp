#include "cli/gate_options.hpp"

#include <algorithm>

#include "cli/terminal.hpp"
#include "confirm/auto_approve.hpp"
#include "policy/all_rules.hpp"

namespace skerry::cli {
namespace {

struct Assignment {
  std::string name;
  std::string level;
};

// The schema has checked the form.
Assignment Split(const std::string& item) {
  const auto sign = item.rfind('=');
  return {item.substr(0, sign), item.substr(sign + 1)};
}

policy::ConfirmFrom ConfirmFromOf(config::ConfirmFrom from) {
  switch (from) {
    case config::ConfirmFrom::kHigh:
      return policy::ConfirmFrom::kHigh;
    case config::ConfirmFrom::kCritical:
      return policy::ConfirmFrom::kCritical;
    case config::ConfirmFrom::kNever:
      return policy::ConfirmFrom::kNever;
  }
  return policy::ConfirmFrom::kHigh;
}

base::Status AddLevels(const std::vector<std::string>& items, std::map<std::string, core::RiskLevel, std::less<>>& to) {
  for (const std::string& item : items) {
    const auto [name, level] = Split(item);
    SKERRY_ASSIGN_OR_RETURN(to[name], core::ParseRiskLevel(level));
  }
  return {};
}

base::Status AddRules(const std::vector<std::string>& items, policy::PolicyOptions& options) {
  const auto known = policy::AllRules();
  for (const std::string& item : items) {
    const auto [name, level] = Split(item);
    if (std::ranges::find(known, name, &policy::Rule::id) == known.end())
      return base::Err(base::Code::kInvalidArgument,
                       "sandbox.policy.rules: there is no rule '" + name + "'; skerry risk --rules lists them");
    policy::RuleChange change;
    if (level != "silent") {
      SKERRY_ASSIGN_OR_RETURN(change.level, core::ParseRiskLevel(level));
    }
    options.rules[name] = change;
  }
  return {};
}

}  // namespace

base::Result<policy::PolicyOptions> PolicyOptionsOf(const config::Sandbox& sandbox) {
  policy::PolicyOptions options{.confirm = ConfirmFromOf(sandbox.confirm),
                                .reject_as_confirmation = sandbox.reject_as_confirmation,
                                .allowed = {sandbox.policy.allow.begin(), sandbox.policy.allow.end()}};
  SKERRY_RETURN_IF_ERROR(AddRules(sandbox.policy.rules, options));
  SKERRY_RETURN_IF_ERROR(AddLevels(sandbox.policy.commands, options.extras.commands));
  SKERRY_RETURN_IF_ERROR(AddLevels(sandbox.policy.modules, options.extras.modules));
  return options;
}

base::Result<engine::GateOptions> GateOptionsOf(const config::Sandbox& sandbox) {
  SKERRY_ASSIGN_OR_RETURN(policy::PolicyOptions policy, PolicyOptionsOf(sandbox));
  return engine::GateOptions{.policy = std::move(policy),
                             .confirm_timeout = sandbox.confirm_timeout,
                             .log = [](const std::string& lowering) { Note("risk: " + lowering); }};
}

std::shared_ptr<confirm::ConfirmationService> ConfirmationFor(engine::Consent consent) {
  if (consent == engine::Consent::kGiven) return std::make_shared<confirm::AutoApprove>("--yes");
  return std::make_shared<AskAtTerminal>();
}

}  // namespace skerry::cli
