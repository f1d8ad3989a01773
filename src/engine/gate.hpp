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

// Who is asked in place of the gate's own service, for which execution, and whose that is.
struct Asker {
  std::shared_ptr<confirm::ConfirmationService> confirmation;
  std::string execution;
  std::string tenant;
  std::function<void()> admitted;  // called when nothing stands in the way of a cell any more; may be empty
};

// SHA-256 of what an answer is about: see confirm::Question.
struct ProposalDigests {
  std::string all;
  std::string content;  // "" where it is not the content alone
};

// What wants to run.
struct Proposal {
  std::string session;  // empty for a run of its own
  core::Language language = core::Language::kPython;
  std::string_view code;
  std::vector<std::pair<std::string, std::string>> conditions;  // for the person; see confirm::Question
  std::function<base::Result<ProposalDigests>()> digest;        // as it is now
  Asker asker;
};

// Whether it may run: nothing, or how it ended.
struct Admission {
  std::optional<core::Outcome> refused;
  std::string approved_by;             // who or what said yes; empty where nobody was asked
  std::chrono::nanoseconds waited{0};  // for a person
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
