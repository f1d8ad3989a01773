// ApprovalsView: questions that wait for a person, and their answers, for a principal.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "confirm/confirmation.hpp"
#include "core/risk.hpp"
#include "engine/views/view.hpp"

namespace skerry::confirm {
struct Approval;
}

namespace skerry::engine {

// For how long an approval holds.
using ApprovalScope = confirm::Scope;
std::optional<ApprovalScope> ParseApprovalScope(std::string_view name);

// A question that waits for a person.
struct WaitingApproval {
  std::string id;
  std::string session;  // the session's id; "" for none
  std::string execution;
  std::string digest;  // of the run that the answer is about
  core::TimePoint created;
  core::TimePoint expires;
  std::string content_type;
  std::string code;  // the beginning of the code, or all of it
  std::size_t code_bytes = 0;
  core::RiskAssessment risk;
  std::vector<std::pair<std::string, std::string>> conditions;  // under which the code would run
  std::vector<ApprovalScope> scopes;                            // for how long it may be approved
};

// What a person decided.
struct ApprovalDecision {
  enum class Verdict { kApprove, kReject };
  std::string approval;  // the approval's id
  std::string digest;    // of what the person was shown
  Verdict verdict = Verdict::kReject;
  ApprovalScope scope = ApprovalScope::kOnce;
  std::string reason;
};

class ApprovalsView : public View {
 public:
  explicit ApprovalsView(const Access& access) : View(access) {}

  // The oldest first, with at most `most_code` bytes of their code; those of a session by its name or its id.
  [[nodiscard]] base::Result<std::vector<WaitingApproval>> Waiting(const std::optional<std::string>& session,
                                                                   std::size_t most_code) const;
  // As they were recorded, the newest first. The tenant of the filter is the principal's, except for admins.
  [[nodiscard]] base::Result<std::vector<core::ApprovalRecord>> Past(core::ApprovalFilter filter) const;
  using Found = std::variant<WaitingApproval, core::ApprovalRecord>;
  [[nodiscard]] base::Result<Found> Find(const std::string& id) const;

  // kRejected: the approval has expired, or its run does not wait any more. kConflict: it was answered already, or the
  // digest is not that of the question. kUnauthenticated: the token is not valid any more. The answer is in the audit
  // before the run goes on.
  base::Status Decide(const ApprovalDecision& decision) const;

 private:
  [[nodiscard]] base::Result<std::shared_ptr<const confirm::Approval>> FindWaiting(const std::string& id) const;
};

}  // namespace skerry::engine
