#include "confirm/session_approvals.hpp"

#include <algorithm>

#include "base/sha256.hpp"

namespace skerry::confirm {

Answer SessionApprovals::Ask(const Question& question, base::Deadline deadline, std::stop_token stop) {
  // What has no digest cannot be recognised again.
  if (question.session.empty() || !base::IsSha256Hex(question.digest))
    return asked_.Ask(question, deadline, std::move(stop));
  const Approved approved{question.session, question.digest};
  if (Remembers(question.session, question.digest))
    return {.decision = Decision::kApproved,
            .scope = Scope::kSession,
            .by = "session",
            .reason = "approved earlier for this session"};
  return AskOther(approved, question, deadline, std::move(stop));
}

Answer SessionApprovals::AskOther(const Approved& approved, const Question& question, base::Deadline deadline,
                                  std::stop_token stop) {
  Pending pending{.session = approved.first};
  {
    const std::scoped_lock lock(mutex_);
    pending_.push_back(&pending);
  }
  Answer answer = asked_.Ask(question, deadline, std::move(stop));
  const std::scoped_lock lock(mutex_);
  std::erase(pending_, &pending);
  const bool for_session = answer.decision == Decision::kApproved && answer.scope == Scope::kSession;
  if (for_session && !pending.forgotten) Remember(approved);
  return answer;
}

void SessionApprovals::Forget(std::string_view session) {
  const std::scoped_lock lock(mutex_);
  const auto is_of_session = [&](const Approved& approved) { return approved.first == session; };
  std::erase_if(approved_, is_of_session);
  std::erase_if(order_, is_of_session);
  for (Pending* pending : pending_)
    if (pending->session == session) pending->forgotten = true;
}

bool SessionApprovals::Remembers(const std::string& session, const std::string& digest) {
  const std::scoped_lock lock(mutex_);
  return approved_.contains(Approved{session, digest});
}

void SessionApprovals::Remember(const Approved& approved) {
  if (!approved_.insert(approved).second) return;
  order_.push_back(approved);
  if (order_.size() <= max_remembered_) return;
  approved_.erase(order_.front());
  order_.pop_front();
}

}  // namespace skerry::confirm
