#include "confirm/session_approvals.hpp"

#include <algorithm>

#include "base/sha256.hpp"

namespace skerry::confirm {

Answer SessionApprovals::Ask(const Question& question, base::Deadline deadline, std::stop_token stop) {
  // A question without a digest, or about more than its digest covers, cannot be recognised again.
  if (question.once_only || !base::IsSha256Hex(question.digest)) return asked_.Ask(question, deadline, std::move(stop));
  if (!question.session.empty() && Remembers(question.session, question.digest))
    return {.decision = Decision::kApproved,
            .scope = Scope::kSession,
            .by = "session",
            .reason = "approved earlier for this session"};
  if (base::IsSha256Hex(question.content) && RemembersContent(question.tenant, question.content))
    return {.decision = Decision::kApproved,
            .scope = Scope::kContent,
            .by = "content",
            .reason = "the same content was approved earlier"};
  return AskOther(question, deadline, std::move(stop));
}

Answer SessionApprovals::AskOther(const Question& question, base::Deadline deadline, std::stop_token stop) {
  Pending pending{.session = question.session};
  {
    const std::scoped_lock lock(mutex_);
    pending_.push_back(&pending);
  }
  Answer answer = asked_.Ask(question, deadline, std::move(stop));
  const std::scoped_lock lock(mutex_);
  std::erase(pending_, &pending);
  if (answer.decision != Decision::kApproved) return answer;
  if (answer.scope == Scope::kSession && !question.session.empty() && !pending.forgotten)
    Remember({Scope::kSession, question.session, question.digest});
  if (answer.scope == Scope::kContent && base::IsSha256Hex(question.content))
    Remember({Scope::kContent, question.tenant, question.content});
  return answer;
}

void SessionApprovals::Forget(std::string_view session) {
  const std::scoped_lock lock(mutex_);
  const auto is_of_session = [&](const Approved& approved) {
    return approved.scope == Scope::kSession && approved.whose == session;
  };
  std::erase_if(approved_, is_of_session);
  std::erase_if(order_, is_of_session);
  for (Pending* pending : pending_)
    if (pending->session == session) pending->forgotten = true;
}

bool SessionApprovals::Remembers(const std::string& session, const std::string& digest) {
  return Knows({Scope::kSession, session, digest});
}

bool SessionApprovals::RemembersContent(const std::string& tenant, const std::string& content) {
  return Knows({Scope::kContent, tenant, content});
}

bool SessionApprovals::Knows(const Approved& approved) {
  const std::scoped_lock lock(mutex_);
  return approved_.contains(approved);
}

void SessionApprovals::Remember(const Approved& approved) {
  if (!approved_.insert(approved).second) return;
  order_.push_back(approved);
  if (order_.size() <= max_remembered_) return;
  approved_.erase(order_.front());
  order_.pop_front();
}

}  // namespace skerry::confirm
