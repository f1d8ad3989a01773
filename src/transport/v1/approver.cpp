#include "transport/v1/approver.hpp"

#include <array>

namespace skerry::transport::v1 {
namespace {

// What has expired, or whose asker went away, is gone: another status than a no.
http::Refusal RefusalFor(const base::Error& error) {
  if (error.code == base::Code::kRejected) return {.status = 410, .code = "gone", .message = error.message};
  return http::RefusalOf(error);
}

}  // namespace

PersonsDecision ReadDecision(json::Fields& fields) {
  constexpr std::array<std::string_view, 2> kDecisions = {"approve", "reject"};
  constexpr std::array<std::string_view, 3> kScopes = {"once", "session", "content"};
  const auto decision = fields.Word("decision", kDecisions);
  const auto digest = fields.Text("digest", 64);
  if (!decision || !digest) fields.Fail("decision", "and digest are needed");
  if (digest && (digest->size() != 64 || digest->find_first_not_of("0123456789abcdef") != std::string::npos))
    fields.Fail("digest", "has 64 hexadecimal digits");
  const auto scope = confirm::ParseScope(fields.Word("scope", kScopes).value_or("once"));
  return {.digest = digest.value_or(""),
          .verdict = {.approve = decision == "approve",
                      .scope = scope.value_or(confirm::Scope::kOnce),
                      .reason = fields.Text("reason", 1000).value_or("")}};
}

base::Result<std::shared_ptr<const confirm::Approval>> Approver::Find(const std::string& id) const {
  SKERRY_ASSIGN_OR_RETURN(auto approval, api_.host.approvals().Find(id));
  if (Sees(*approval)) return approval;
  return api_.host.approvals().Find("");  // in the same words as for one that never was
}

std::optional<http::Refusal> Approver::Decide(const PersonsDecision& decision) const {
  if (!may_)
    return http::Refusal{.status = 403, .code = "permission_denied", .message = "deciding needs the scope approve"};
  if (principal_.id != "local" && !api_.host.tokens().Holds(principal_.id))
    return http::Refusal{.status = 401, .code = "unauthenticated", .message = "the token holds no more"};
  if (const auto approval = Find(decision.approval); !approval) return RefusalFor(approval.error());
  confirm::Verdict verdict = decision.verdict;
  verdict.by = principal_.id;
  verdict.from = principal_.from;
  const auto decided = api_.host.approvals().Decide(decision.approval, decision.digest, std::move(verdict));
  if (!decided) return RefusalFor(decided.error());
  return std::nullopt;
}

}  // namespace skerry::transport::v1
