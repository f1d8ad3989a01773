#include "engine/gate.hpp"

#include "base/error.hpp"

namespace skerry::engine {

core::Outcome Rejected(std::string reason) {
  return {.kind = core::OutcomeKind::kRejected,
          .exit_code = base::RowOf(base::Code::kRejected).exit_code,
          .reason = std::move(reason)};
}

core::RiskAssessment Gate::Assess(core::Language language, std::string_view code) const {
  core::RiskAssessment risk = policy_.Assess(language, code);
  if (options_.log)
    for (const std::string& lowering : risk.lowerings) options_.log(lowering);
  return risk;
}

base::Result<Admission> Gate::Admit(const core::RiskAssessment& risk, const Proposal& proposal,
                                    std::stop_token stop) const {
  if (risk.suggested_sandbox == core::SuggestedSandbox::kReject)
    return Admission{.refused = Rejected("refused by the risk policy: " + risk.reason)};
  if (!risk.requires_confirmation) return Admission{};
  if (options_.confirmation == nullptr && proposal.asker.confirmation == nullptr)
    return Admission{.refused = Rejected("nobody can be asked: " + risk.reason)};
  return Ask(risk, proposal, std::move(stop));
}

base::Result<Admission> Gate::Ask(const core::RiskAssessment& risk, const Proposal& proposal,
                                  std::stop_token stop) const {
  confirm::Question question{.session = proposal.session,
                             .tenant = proposal.asker.tenant,
                             .execution = proposal.asker.execution,
                             .content_type = std::string(core::NameOf(proposal.language)),
                             .code = std::string(proposal.code),
                             .risk = risk,
                             .conditions = proposal.conditions};
  SKERRY_ASSIGN_OR_RETURN(const ProposalDigests shown, proposal.digest());
  question.digest = shown.all;
  question.content = shown.content;
  confirm::ConfirmationService& service =
      proposal.asker.confirmation ? *proposal.asker.confirmation : *options_.confirmation;
  const auto asked_at = std::chrono::steady_clock::now();
  const confirm::Answer answer = service.Ask(question, base::Deadline::After(options_.confirm_timeout), stop);
  const std::chrono::nanoseconds waited = std::chrono::steady_clock::now() - asked_at;
  switch (answer.decision) {
    case confirm::Decision::kApproved:
      break;
    case confirm::Decision::kCancelled:
      return Admission{core::Outcome{.kind = core::OutcomeKind::kCancelled,
                                     .exit_code = base::RowOf(base::Code::kRejected).exit_code},
                       {},
                       waited};
    case confirm::Decision::kRejected:
    case confirm::Decision::kExpired:
      return Admission{
          Rejected((answer.reason.empty() ? std::string(confirm::NameOf(answer.decision)) : answer.reason) + "; " +
                   risk.reason),
          {},
          waited};
  }
  if (!answer.was_shown) return Admission{std::nullopt, answer.by, waited};
  SKERRY_ASSIGN_OR_RETURN(const ProposalDigests now, proposal.digest());
  if (now.all != question.digest)
    return Admission{Rejected("what would run is not what was approved: something changed since"), {}, waited};
  return Admission{std::nullopt, answer.by, waited};
}

}  // namespace skerry::engine
