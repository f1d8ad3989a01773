#include "confirm/approval_queue.hpp"

#include <algorithm>
#include <utility>

#include "base/ids.hpp"
#include "base/sha256.hpp"
#include "confirm/wait.hpp"

namespace skerry::confirm {
namespace {

Answer Rejected(std::string reason) {
  return {.decision = Decision::kRejected, .by = "queue", .reason = std::move(reason)};
}

// The same message for an id that never was and for another session's: callers must not learn the difference.
base::Error Unknown() {
  return {base::Code::kNotFound, "there is no such approval"};
}

base::Error TooLate(Decision decision) {
  switch (decision) {
    case Decision::kExpired:
      return {base::Code::kRejected, "the approval has expired; nothing was run"};
    case Decision::kCancelled:
      return {base::Code::kRejected, "whoever asked for the approval has gone; nothing was run"};
    case Decision::kApproved:
    case Decision::kRejected:
      break;
  }
  return {base::Code::kConflict, "the approval was answered already: " + std::string(NameOf(decision))};
}

std::shared_ptr<const Approval> MakeApproval(const Question& question, base::Deadline deadline) {
  const auto now = std::chrono::system_clock::now();
  const auto left = std::chrono::duration_cast<std::chrono::system_clock::duration>(deadline.Remaining());
  return std::make_shared<const Approval>(base::RandomId("apr_"), question, now, now + left);
}

}  // namespace

ApprovalQueue::~ApprovalQueue() {
  std::unique_lock lock(mutex_);
  closing_ = true;
  while (!waiting_.empty()) Finish(*waiting_.front(), EventKind::kAnswered, Rejected("the service is ending"));
  left_.wait(lock, [this] { return asking_ == 0; });
}

std::optional<std::string> ApprovalQueue::TooMuchWith(const Question& question) const {
  if (waiting_.size() >= options_.max_waiting) return std::to_string(waiting_.size()) + " questions are waiting";
  std::size_t count = 0;
  std::size_t bytes = 0;
  for (const Entry* entry : waiting_) {
    if (entry->approval->question.tenant != question.tenant) continue;
    ++count;
    bytes += entry->approval->question.code.size();
  }
  if (count >= options_.max_of_tenant) return std::to_string(count) + " questions of this tenant are waiting";
  if (count > 0 && bytes + question.code.size() > options_.max_code_of_tenant)
    return "questions of this tenant about " + std::to_string(bytes) + " bytes of code are waiting";
  return std::nullopt;
}

Answer ApprovalQueue::Ask(const Question& question, base::Deadline deadline, std::stop_token stop) {
  // An answer is bound to a digest. Without one it would hold for any code.
  if (!base::IsSha256Hex(question.digest)) return Rejected("the question has no digest of what would run");
  // A year fits every clock: the time that is shown must not overflow.
  constexpr std::chrono::milliseconds kLongest = std::chrono::hours(24 * 365);
  const auto until = deadline.EarlierOf(base::Deadline::After(std::min(options_.limit, kLongest)));
  Entry entry{.approval = MakeApproval(question, until), .deadline = until};
  if (options_.before_asking)
    if (const auto may = options_.before_asking(*entry.approval); !may) return Rejected(may.error().message);

  std::unique_lock lock(mutex_);
  if (closing_) return Rejected("the service is ending");
  if (const auto too_much = TooMuchWith(question)) return Rejected(*too_much + " already; answer some first");
  waiting_.push_back(&entry);
  ++asking_;
  broadcaster_.Publish({.kind = EventKind::kAsked, .approval = entry.approval});
  if (!WaitUntil(entry.answered, lock, until, stop, [&] { return entry.answer.has_value(); })) {
    if (stop.stop_requested())
      Finish(entry, EventKind::kCancelled, {.decision = Decision::kCancelled, .reason = "the asker went away"});
    else
      Finish(entry, EventKind::kExpired, {.decision = Decision::kExpired, .reason = "nobody answered in time"});
  }
  --asking_;
  left_.notify_all();
  return *std::move(entry.answer);
}

std::vector<std::shared_ptr<const Approval>> ApprovalQueue::List() const {
  const std::scoped_lock lock(mutex_);
  std::vector<std::shared_ptr<const Approval>> approvals;
  for (const Entry* entry : waiting_)
    if (!entry->deadline.Expired()) approvals.push_back(entry->approval);
  return approvals;
}

base::Result<std::shared_ptr<const Approval>> ApprovalQueue::Find(std::string_view id,
                                                                  std::optional<std::string_view> session) const {
  const std::scoped_lock lock(mutex_);
  SKERRY_ASSIGN_OR_RETURN(const Entry* entry, Answerable(id, session));
  return entry->approval;
}

base::Status ApprovalQueue::Decide(std::string_view id, std::string_view digest, Verdict verdict,
                                   std::optional<std::string_view> session) {
  const std::scoped_lock lock(mutex_);
  SKERRY_ASSIGN_OR_RETURN(Entry * entry, Answerable(id, session));
  const Question& question = entry->approval->question;
  if (digest != question.digest)
    return base::Err(base::Code::kConflict, "the digest is not that of what would run; look at the question again");
  if (verdict.approve && verdict.scope != Scope::kOnce && question.once_only)
    return base::Err(base::Code::kInvalidArgument,
                     "this reads files that were not looked at; it can be approved once, and no longer");
  if (verdict.approve && verdict.scope == Scope::kSession && question.session.empty())
    return base::Err(base::Code::kInvalidArgument, "there is no session that the approval could hold for");
  if (verdict.approve && verdict.scope == Scope::kContent && question.content.empty())
    return base::Err(base::Code::kInvalidArgument,
                     "what this does depends on more than its content; approve it once or for the session");
  Finish(*entry, EventKind::kAnswered,
         {.decision = verdict.approve ? Decision::kApproved : Decision::kRejected,
          .scope = verdict.scope,
          .by = std::move(verdict.by),
          .from = std::move(verdict.from),
          .reason = std::move(verdict.reason)});
  return {};
}

base::Result<ApprovalQueue::Entry*> ApprovalQueue::Answerable(std::string_view id,
                                                              std::optional<std::string_view> session) const {
  const auto found = std::ranges::find_if(waiting_, [&](const Entry* entry) { return entry->approval->id == id; });
  if (found == waiting_.end()) return std::unexpected(WhyNot(id, session));
  if (session && *session != (*found)->approval->question.session) return std::unexpected(Unknown());
  if ((*found)->deadline.Expired()) return std::unexpected(TooLate(Decision::kExpired));
  return *found;
}

base::Error ApprovalQueue::WhyNot(std::string_view id, std::optional<std::string_view> session) const {
  const auto found = std::ranges::find(done_, id, &Done::id);
  if (found == done_.end() || (session && *session != found->session)) return Unknown();
  return TooLate(found->decision);
}

void ApprovalQueue::Finish(Entry& entry, EventKind kind, Answer answer) {
  answer.approval = entry.approval->id;
  std::erase(waiting_, &entry);
  done_.push_back({entry.approval->id, entry.approval->question.session, answer.decision});
  if (done_.size() > options_.max_remembered) done_.pop_front();
  // Under the lock, so that the events are in the order in which things happened.
  broadcaster_.Publish({.kind = kind, .approval = entry.approval, .answer = answer});
  entry.answer = std::move(answer);
  entry.answered.notify_all();
}

}  // namespace skerry::confirm
