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
#include "base/turns.hpp"
#include "confirm/confirmation.hpp"
#include "core/execution.hpp"
#include "core/risk.hpp"
#include "engine/analyses.hpp"
#include "engine/assessment_memory.hpp"
#include "policy/risk_policy.hpp"

namespace skerry::engine {

struct GateOptions {
  policy::PolicyOptions policy;
  // Without one nobody can be asked: what requires it is rejected.
  std::shared_ptr<confirm::ConfirmationService> confirmation;
  std::chrono::seconds confirm_timeout{300};
  // Where many ask: whose turn it is. Without, everybody's at once.
  std::shared_ptr<Analyses> analyses;
  // The same for looks at files.
  std::shared_ptr<base::Turns> looks;
  // Told of every use of a rule that the organisation has made less grave.
  std::function<void(const std::string&)> log;
};

// Beside whom something runs.
enum class Footing {
  kBesideOthers,
  kAlone,  // nobody else changes files, and no other program of the session lives
};
// A footing, for as long as it is kept.
using FootingHold = std::shared_ptr<const void>;

// Who is asked in place of the gate's own service, for which execution, and whose that is.
struct Asker {
  std::shared_ptr<confirm::ConfirmationService> confirmation;
  std::string execution;
  std::string tenant;
  std::string token;    // of whoever wants it
  std::string session;  // that it is for; empty where the proposal says it
  // Called before it begins, for what its begin needs. Waits; an error where that cannot be had. May be empty.
  std::function<base::Result<FootingHold>(Footing footing, const std::stop_token& stop)> begin;
};

// How much of what would run is looked at.
enum class Sight {
  kNamed,  // what it names: for the record of a yes that is to whatever is found
  kWhole,  // and what it could find besides: for a person
};

// What would run, as it is at one moment.
struct ProposalLook {
  std::string digest;   // these four: see confirm::Question
  std::string content;  // "" where it is not the content alone
  bool once_only = false;
  std::vector<std::pair<std::string, std::string>> conditions;
  std::string unknown;  // what of it could not be read, and why: nobody can say yes to that. "" for nothing
};

// What wants to run.
struct Proposal {
  std::string session;  // empty for a run of its own
  core::Language language = core::Language::kPython;
  std::string_view code;
  std::function<base::Result<ProposalLook>(Sight sight, const std::stop_token& stop)> look;  // at how it is now
  Asker asker;
};

// Whether it may run: nothing, or how it ended.
struct Admission {
  std::optional<core::Outcome> refused;
  std::string approved_by;             // who or what said yes; empty where nobody was asked
  std::string digest;                  // of what was asked about
  std::chrono::nanoseconds waited{0};  // for a person
  FootingHold footing;                 // to be kept until it has ended
};

// Thread-safe.
class Gate {
 public:
  explicit Gate(GateOptions options = {})
      : options_(std::move(options)), policy_(options_.policy), memory_(std::make_shared<AssessmentMemory>()) {}

  // Of this code alone; with `references` it is told what else would run (run_assessment.hpp). Says what is less grave
  // by the organisation's rules to the log. kRateLimited and kUnavailable, as Analyses has
  // them.
  [[nodiscard]] base::Result<core::RiskAssessment> Assess(
      core::Language language, std::string_view code, const AnalysisOwner& owner = {}, const std::stop_token& stop = {},
      std::vector<policy::CodeReference>* references = nullptr) const;
  // The same, of a file that other code runs: what was found in its content before is not looked for again.
  [[nodiscard]] base::Result<core::RiskAssessment> AssessFile(core::Language language, std::string_view code,
                                                              const AnalysisOwner& owner, const std::stop_token& stop,
                                                              std::vector<policy::CodeReference>& references) const;
  [[nodiscard]] const policy::RiskPolicy& policy() const { return policy_; }
  [[nodiscard]] const std::shared_ptr<Analyses>& analyses() const { return options_.analyses; }

  // To be kept while files are looked at for a tenant; no turn when `stop` was asked for.
  using LookTurn = std::shared_ptr<const base::Turns::Turn>;
  [[nodiscard]] base::Result<LookTurn> TakeLookTurn(const std::string& tenant, const std::stop_token& stop) const;

  // Refused as kRejected, or as kCancelled when `stop` was asked for. An approval holds for the digest that was shown:
  // what has another one when it begins, alone with its files, is rejected; and so is what cannot be read, unless the
  // yes came with the request.
  [[nodiscard]] base::Result<Admission> Admit(const core::RiskAssessment& risk, const Proposal& proposal,
                                              const std::stop_token& stop) const;

 private:
  [[nodiscard]] base::Result<ProposalLook> Look(const Proposal& proposal, Sight sight,
                                                const std::stop_token& stop) const;
  [[nodiscard]] base::Result<Admission> BeginAsShown(const Proposal& proposal, const std::string& digest,
                                                     const std::stop_token& stop, Admission admission) const;
  [[nodiscard]] base::Result<Admission> Ask(const core::RiskAssessment& risk, const Proposal& proposal,
                                            const std::stop_token& stop) const;

  GateOptions options_;
  policy::RiskPolicy policy_;
  std::shared_ptr<AssessmentMemory> memory_;
};

// The outcome of what was not run, and why.
core::Outcome Rejected(std::string reason);
core::Outcome Cancelled();

}  // namespace skerry::engine
