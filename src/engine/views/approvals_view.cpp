#include "engine/views/approvals_view.hpp"

#include "confirm/approval_queue.hpp"
#include "core/session_name.hpp"
#include "engine/views/access.hpp"

namespace skerry::engine {
namespace {

bool IsCalled(const std::string& session, const std::string& name) {
  return session == name || core::NameOfSession(session) == name;
}

std::vector<ApprovalScope> ScopesOf(const confirm::Question& question) {
  std::vector<ApprovalScope> scopes = {ApprovalScope::kOnce};
  if (question.once_only) return scopes;
  if (!question.session.empty()) scopes.push_back(ApprovalScope::kSession);
  if (!question.content.empty()) scopes.push_back(ApprovalScope::kContent);
  return scopes;
}

WaitingApproval ShownAs(const confirm::Approval& approval, std::size_t most_code) {
  const confirm::Question& question = approval.question;
  return {.id = approval.id,
          .session = question.session,
          .execution = question.execution,
          .digest = question.digest,
          .created = approval.created,
          .expires = approval.expires,
          .content_type = question.content_type,
          .code = question.code.substr(0, most_code),
          .code_bytes = question.code.size(),
          .risk = question.risk,
          .conditions = question.conditions,
          .scopes = ScopesOf(question)};
}

}  // namespace

std::optional<ApprovalScope> ParseApprovalScope(std::string_view name) {
  return confirm::ParseScope(name);
}

base::Result<std::vector<WaitingApproval>> ApprovalsView::Waiting(const std::optional<std::string>& session,
                                                                  std::size_t most_code) const {
  return Allowed(kToApprove, [&]() -> base::Result<std::vector<WaitingApproval>> {
    std::vector<WaitingApproval> waiting;
    for (const auto& approval : approvals().List())
      if (principal().Sees(approval->question.tenant) && (!session || IsCalled(approval->question.session, *session)))
        waiting.push_back(ShownAs(*approval, most_code));
    return waiting;
  });
}

base::Result<std::vector<core::ApprovalRecord>> ApprovalsView::Past(core::ApprovalFilter filter) const {
  return Allowed(kToApprove, [&] {
    if (!principal().everybody()) filter.tenant = principal().tenant;
    return store().Approvals(filter);
  });
}

base::Result<std::shared_ptr<const confirm::Approval>> ApprovalsView::FindWaiting(const std::string& id) const {
  SKERRY_ASSIGN_OR_RETURN(auto approval, approvals().Find(id));
  if (principal().Sees(approval->question.tenant)) return approval;
  return approvals().Find("");  // the same error as for an approval that never existed
}

base::Result<ApprovalsView::Found> ApprovalsView::Find(const std::string& id) const {
  return Allowed(kToApprove, [&]() -> base::Result<Found> {
    if (const auto waiting = FindWaiting(id)) return ShownAs(**waiting, std::string::npos);
    auto past = store().FindApproval(id);
    if (!past && past.error().code != base::Code::kNotFound) return std::unexpected(past.error());
    if (!past || !principal().Sees(past->tenant)) return base::Err(base::Code::kNotFound, "there is no such approval");
    if (past->decision.empty())
      return base::Err(base::Code::kUnavailable, "the approval is being decided just now; ask again");
    return *std::move(past);
  });
}

base::Status ApprovalsView::Decide(const ApprovalDecision& decision) const {
  return Allowed(kToApprove, [&]() -> base::Status {
    if (!access().Holds()) return base::Err(base::Code::kUnauthenticated, "the token holds no more");
    SKERRY_RETURN_IF_ERROR(FindWaiting(decision.approval));
    return approvals().Decide(decision.approval, decision.digest,
                              {.approve = decision.verdict == ApprovalDecision::Verdict::kApprove,
                               .scope = decision.scope,
                               .by = principal().id,
                               .from = principal().from,
                               .reason = decision.reason});
  });
}

}  // namespace skerry::engine
