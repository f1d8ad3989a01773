// Gate: what stands before every run (S1.3): the risk is assessed, and a person is asked where that is required.
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
  // Without a service nobody can be asked: code that requires an approval is rejected.
  std::shared_ptr<confirm::ConfirmationService> confirmation;
  std::chrono::seconds confirm_timeout{300};
  // Where many tenants ask: whose analysis is next. Without it each begins at once.
  std::shared_ptr<Analyses> analyses;
  // The same for reading the files of a proposal.
  std::shared_ptr<base::Turns> looks;
  // Told of every use of a rule that the organisation has lowered.
  std::function<void(const std::string&)> log;
};

// Whether a run is alone in its session.
enum class Footing {
  kBesideOthers,
  kAlone,  // no other run changes files, and no other program of the session lives
};
// Keeps a footing for as long as it is held.
using FootingHold = std::shared_ptr<const void>;

// Who is asked in place of the gate's own service, about which execution, and for whom that runs.
struct Asker {
  std::shared_ptr<confirm::ConfirmationService> confirmation;
  std::string execution;
  std::string tenant;
  std::string token;    // of the principal that wants to run
  std::string session;  // of the execution; empty where the proposal has it
  // Called before the program begins, to get its footing. Waits; an error where the footing cannot be had. May be
  // empty.
  std::function<base::Result<FootingHold>(Footing footing, const std::stop_token& stop)> begin;
};

// How much of what would run is read.
enum class Sight {
  kNamed,  // the files that the code names: for the record of an approval given in advance
  kWhole,  // also the files that it could find besides: for a person
};

// What would run, as it is at one moment.
struct ProposalLook {
  std::string digest;   // these four: see confirm::Question
  std::string content;  // "" where the content alone does not decide
  bool once_only = false;
  std::vector<std::pair<std::string, std::string>> conditions;
  std::string unknown;  // a file that could not be read, and why: nobody can approve that. "" for none
};

// What wants to run.
struct Proposal {
  std::string session;  // empty for a run of its own
  core::Language language = core::Language::kPython;
  std::string_view code;
  std::function<base::Result<ProposalLook>(Sight sight, const std::stop_token& stop)> look;  // reads the state of now
  Asker asker;
};

// Whether the proposal may run: nothing refused, or the outcome of the run.
struct Admission {
  std::optional<core::Outcome> refused;
  std::string approved_by;             // who or what approved; empty where no approval was needed
  std::string digest;                  // of the proposal that was asked about
  std::chrono::nanoseconds waited{0};  // for a person
  FootingHold footing;                 // to be kept until the run has ended
};

// Thread-safe.
class Gate {
 public:
  explicit Gate(GateOptions options = {})
      : options_(std::move(options)), policy_(options_.policy), memory_(std::make_shared<AssessmentMemory>()) {}

  // Assesses this code alone; `references` receives what else would run (run_assessment.hpp). Tells the log which
  // findings the organisation's rules have lowered. kRateLimited and kUnavailable, as Analyses has them.
  [[nodiscard]] base::Result<core::RiskAssessment> Assess(
      core::Language language, std::string_view code, const AnalysisOwner& owner = {}, const std::stop_token& stop = {},
      std::vector<policy::CodeReference>* references = nullptr) const;
  // The same for a file that other code runs: content that was assessed before is not assessed again.
  [[nodiscard]] base::Result<core::RiskAssessment> AssessFile(core::Language language, std::string_view code,
                                                              const AnalysisOwner& owner, const std::stop_token& stop,
                                                              std::vector<policy::CodeReference>& references) const;
  [[nodiscard]] const policy::RiskPolicy& policy() const { return policy_; }
  [[nodiscard]] const std::shared_ptr<Analyses>& analyses() const { return options_.analyses; }

  // To be kept while files are looked at for a tenant; no turn when `stop` was asked for.
  using LookTurn = std::shared_ptr<const base::Turns::Turn>;
  [[nodiscard]] base::Result<LookTurn> TakeLookTurn(const std::string& tenant, const std::stop_token& stop) const;

  // Refused as kRejected, or as kCancelled when `stop` was asked for. An approval holds for the digest that was shown:
  // a proposal that has another digest when it begins, alone with its files, is rejected; so is one that cannot be
  // read, unless the approval came with the request.
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

// The outcome of a run that was not started, and why.
core::Outcome Rejected(std::string reason);
core::Outcome Cancelled();

}  // namespace skerry::engine
