// Gate: what stands before every execution (S1.3): the risk is assessed, a person is asked where that is required.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "confirm/confirmation.hpp"
#include "core/execution.hpp"
#include "core/risk.hpp"
#include "policy/risk_policy.hpp"

namespace skerry::engine {

struct GateOptions {
  policy::PolicyOptions policy;
  // Without one nobody can be asked: what requires it is rejected.
  std::shared_ptr<confirm::ConfirmationService> confirmation;
  std::chrono::seconds confirm_timeout{300};
  // Told of every use of a rule that the organisation has made less grave.
  std::function<void(const std::string&)> log;
};

// Who is asked in place of the gate's own service, and for which execution.
struct Asker {
  std::shared_ptr<confirm::ConfirmationService> confirmation;
  std::string execution;
};

// What wants to run.
struct Proposal {
  std::string session;  // empty for a run of its own
  core::Language language = core::Language::kPython;
  std::string_view code;
  std::vector<std::pair<std::string, std::string>> conditions;  // for the person; see confirm::Question
  // SHA-256 of everything that the answer is about, as it is now.
  std::function<base::Result<std::string>()> digest;
  Asker asker;
};

// Whether it may run: nothing, or how it ended.
struct Admission {
  std::optional<core::Outcome> refused;
  std::string approved_by;  // who or what said yes; empty where nobody was asked
};

// Thread-safe.
class Gate {
 public:
  explicit Gate(GateOptions options = {}) : options_(std::move(options)), policy_(options_.policy) {}

  // Says what is less grave by the organisation's rules to the log.
  [[nodiscard]] core::RiskAssessment Assess(core::Language language, std::string_view code) const;

  // Refused as kRejected, or as kCancelled when `stop` was asked for. An approval holds for the digest that was shown:
  // what has another one by then is rejected.
  [[nodiscard]] base::Result<Admission> Admit(const core::RiskAssessment& risk, const Proposal& proposal,
                                              std::stop_token stop) const;

 private:
  [[nodiscard]] base::Result<Admission> Ask(const core::RiskAssessment& risk, const Proposal& proposal,
                                            std::stop_token stop) const;

  GateOptions options_;
  policy::RiskPolicy policy_;
};

// The outcome of what was not run, and why.
core::Outcome Rejected(std::string reason);

}  // namespace skerry::engine
