#include "confirm/carried_approvals.hpp"

namespace skerry::confirm {

void CarriedApprovals::Expect(const std::string& session, const std::string& digest, Answer answer) {
  const std::scoped_lock lock(mutex_);
  expected_.emplace(std::pair(session, digest), std::move(answer));
}

void CarriedApprovals::Withdraw(const std::string& session, const std::string& digest) {
  const std::scoped_lock lock(mutex_);
  const auto found = expected_.find(std::pair(session, digest));
  if (found != expected_.end()) expected_.erase(found);
}

Answer CarriedApprovals::Ask(const Question& question, base::Deadline, std::stop_token) {
  const std::scoped_lock lock(mutex_);
  const auto found = expected_.find(std::pair(question.session, question.digest));
  if (found == expected_.end()) return {.reason = "no approval of this came with the request"};
  Answer answer = std::move(found->second);
  expected_.erase(found);
  return answer;
}

}  // namespace skerry::confirm
