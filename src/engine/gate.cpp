#include "engine/gate.hpp"

#include <utility>

#include "base/error.hpp"

namespace skerry::engine {

core::Outcome Rejected(std::string reason) {
  return {.kind = core::OutcomeKind::kRejected,
          .exit_code = base::RowOf(base::Code::kRejected).exit_code,
          .reason = std::move(reason)};
}

core::Outcome Cancelled() {
  return {.kind = core::OutcomeKind::kCancelled, .exit_code = base::RowOf(base::Code::kRejected).exit_code};
}

namespace {

void LogLowerings(const GateOptions& options, const core::RiskAssessment& risk) {
  if (!options.log) return;
  for (const std::string& lowering : risk.lowerings) options.log(lowering);
}

base::Result<core::RiskAssessment> AssessAtOnce(const policy::RiskPolicy& policy, core::Language language,
                                                std::string_view code, const std::stop_token& stop,
                                                std::vector<policy::CodeReference>* references) {
  policy::Budget budget(policy::Budget::LimitsFor(code.size()), stop);
  auto risk = policy.Assess(core::NameOf(language), code, budget, references);
  if (!risk) return base::Err(base::Code::kUnavailable, "nobody waits for the assessment any more");
  return *std::move(risk);
}

}  // namespace

base::Result<core::RiskAssessment> Gate::Assess(core::Language language, std::string_view code,
                                                const AnalysisOwner& owner, const std::stop_token& stop,
                                                std::vector<policy::CodeReference>* references) const {
  SKERRY_ASSIGN_OR_RETURN(core::RiskAssessment risk,
                          options_.analyses
                              ? options_.analyses->Assess(policy_, language, code, owner, stop, references)
                              : AssessAtOnce(policy_, language, code, stop, references));
  LogLowerings(options_, risk);
  return risk;
}

base::Result<core::RiskAssessment> Gate::AssessFile(core::Language language, std::string_view code,
                                                    const AnalysisOwner& owner, const std::stop_token& stop,
                                                    std::vector<policy::CodeReference>& references) const {
  const std::string key = AssessmentMemory::KeyOf(owner.tenant, language, code);
  if (auto known = memory_->Find(key)) {
    if (options_.analyses) options_.analyses->Charge(owner, policy::kWorkOfAPiece + policy::WorkOfCopying(code.size()));
    LogLowerings(options_, known->risk);
    references = std::move(known->references);
    return std::move(known->risk);
  }
  SKERRY_ASSIGN_OR_RETURN(core::RiskAssessment risk, Assess(language, code, owner, stop, &references));
  memory_->Keep(key, {.risk = risk, .references = references});
  return risk;
}

namespace {

// The proposal was not shown to anybody: it runs as it is found.
base::Result<Admission> BeginBesideOthers(const Proposal& proposal, const std::stop_token& stop, Admission admission) {
  if (!proposal.asker.begin) return admission;
  auto footing = proposal.asker.begin(Footing::kBesideOthers, stop);
  if (stop.stop_requested()) {
    admission.refused = Cancelled();
    return admission;
  }
  if (!footing) return std::unexpected(std::move(footing).error());
  admission.footing = *std::move(footing);
  return admission;
}

}  // namespace

base::Result<Gate::LookTurn> Gate::TakeLookTurn(const std::string& tenant, const std::stop_token& stop) const {
  if (!options_.looks) return nullptr;
  SKERRY_ASSIGN_OR_RETURN(base::Turns::Turn turn, options_.looks->Take(tenant, stop));
  return std::make_shared<const base::Turns::Turn>(std::move(turn));
}

base::Result<ProposalLook> Gate::Look(const Proposal& proposal, Sight sight, const std::stop_token& stop) const {
  const auto turn = TakeLookTurn(proposal.asker.tenant, stop);
  if (!turn) return ProposalLook{.unknown = turn.error().message};
  return proposal.look(sight, stop);
}

// Looks at the shown proposal once more when nothing can change it any more, until the run has ended.
base::Result<Admission> Gate::BeginAsShown(const Proposal& proposal, const std::string& digest,
                                           const std::stop_token& stop, Admission admission) const {
  const std::string by = std::exchange(admission.approved_by, "");
  if (proposal.asker.begin) {
    auto footing = proposal.asker.begin(Footing::kAlone, stop);
    if (!footing) admission.refused = Rejected("approved, but not begun: " + footing.error().message);
    if (footing) admission.footing = *std::move(footing);
  }
  if (!admission.refused && !stop.stop_requested()) {
    SKERRY_ASSIGN_OR_RETURN(const ProposalLook now, Look(proposal, Sight::kWhole, stop));
    if (now.digest != digest || !now.unknown.empty())
      admission.refused = Rejected("what would run is not what was approved: something changed since");
  }
  if (stop.stop_requested()) admission.refused = Cancelled();
  if (admission.refused) admission.footing.reset();
  if (!admission.refused) admission.approved_by = by;
  return admission;
}

base::Result<Admission> Gate::Admit(const core::RiskAssessment& risk, const Proposal& proposal,
                                    const std::stop_token& stop) const {
  if (risk.suggested_sandbox == core::SuggestedSandbox::kReject)
    return Admission{.refused = Rejected("refused by the risk policy: " + risk.reason)};
  if (!risk.requires_confirmation) return BeginBesideOthers(proposal, stop, {});
  if (options_.confirmation == nullptr && proposal.asker.confirmation == nullptr)
    return Admission{.refused = Rejected("nobody can be asked: " + risk.reason)};
  return Ask(risk, proposal, stop);
}

base::Result<Admission> Gate::Ask(const core::RiskAssessment& risk, const Proposal& proposal,
                                  const std::stop_token& stop) const {
  confirm::ConfirmationService& service =
      proposal.asker.confirmation ? *proposal.asker.confirmation : *options_.confirmation;
  const Sight sight = service.Shows() ? Sight::kWhole : Sight::kNamed;
  SKERRY_ASSIGN_OR_RETURN(ProposalLook shown, Look(proposal, sight, stop));
  if (stop.stop_requested()) return Admission{.refused = Cancelled()};
  if (!shown.unknown.empty() && service.Shows())
    return Admission{.refused = Rejected("nobody can approve what cannot be read: " + shown.unknown)};
  const confirm::Question question{
      .session = proposal.asker.session.empty() ? proposal.session : proposal.asker.session,
      .tenant = proposal.asker.tenant,
      .execution = proposal.asker.execution,
      .content_type = std::string(core::NameOf(proposal.language)),
      .code = std::string(proposal.code),
      .risk = risk,
      .conditions = std::move(shown.conditions),
      .digest = std::move(shown.digest),
      .content = std::move(shown.content),
      .once_only = shown.once_only};
  const auto asked_at = std::chrono::steady_clock::now();
  const confirm::Answer answer = service.Ask(question, base::Deadline::After(options_.confirm_timeout), stop);
  Admission admission{.digest = question.digest, .waited = std::chrono::steady_clock::now() - asked_at};
  switch (answer.decision) {
    case confirm::Decision::kApproved:
      break;
    case confirm::Decision::kCancelled:
      admission.refused = Cancelled();
      return admission;
    case confirm::Decision::kRejected:
    case confirm::Decision::kExpired:
      admission.refused = Rejected(
          (answer.reason.empty() ? std::string(confirm::NameOf(answer.decision)) : answer.reason) + "; " + risk.reason);
      return admission;
  }
  admission.approved_by = answer.by;
  if (!answer.was_shown) return BeginBesideOthers(proposal, stop, std::move(admission));
  // An approval by a service that should not have been shown the proposal is refused.
  if (!shown.unknown.empty()) {
    admission.refused = Rejected("nobody can approve what cannot be read: " + shown.unknown);
    admission.approved_by.clear();
    return admission;
  }
  return BeginAsShown(proposal, question.digest, stop, std::move(admission));
}

}  // namespace skerry::engine
