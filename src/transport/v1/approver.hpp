// Approver: somebody who may answer questions, over a request or a WebSocket.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "confirm/approval_queue.hpp"
#include "transport/v1/api.hpp"

namespace skerry::transport::v1 {

// What a person decided, as it came.
struct PersonsDecision {
  std::string approval;
  std::string digest;
  confirm::Verdict verdict;
};
// `fields` has decision, digest, and perhaps scope and reason. Whoever reads them calls Finish, and looks at nothing of
// this when that fails.
PersonsDecision ReadDecision(json::Fields& fields);

// Thread-safe.
class Approver {
 public:
  Approver(Api& api, const http::Request& request)
      : api_(api), principal_(PrincipalOf(request)), may_((request.caller.scopes & kApproveScope) != 0) {}

  // Whether it belongs to somebody whose things they may touch.
  [[nodiscard]] bool Sees(const confirm::Approval& approval) const { return principal_.Sees(approval.question.tenant); }
  // One that waits. What is not theirs is as if it never was.
  [[nodiscard]] base::Result<std::shared_ptr<const confirm::Approval>> Find(const std::string& id) const;
  // Why not; nothing when it was heard.
  [[nodiscard]] std::optional<http::Refusal> Decide(const PersonsDecision& decision) const;

 private:
  Api& api_;
  engine::Principal principal_;
  bool may_;
};

}  // namespace skerry::transport::v1
