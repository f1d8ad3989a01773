// ApprovalQueue: questions wait here until a person at a client answers them.
//
//  - An answer names the question's id and the digest of what was shown. A wrong digest answers nothing.
//  - A question is answered at most once, and an answer serves the one Ask that put the question.
//  - A question that has expired cannot be answered any more, even if the thread in Ask has not noticed yet.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "confirm/approval_events.hpp"
#include "confirm/confirmation.hpp"

namespace skerry::confirm {

struct ApprovalQueueOptions {
  std::chrono::milliseconds limit{300'000};  // how long a question waits when its own deadline is later; at most a year
  std::size_t max_waiting = 1'000;           // further questions are rejected at once
  std::size_t max_of_tenant = 250;           // questions of one tenant
  std::size_t max_code_of_tenant = std::size_t{16} << 20U;  // bytes of code of one tenant; one question may have more
  std::size_t max_remembered = 1'000;  // questions that are done, so that a second answer is told what happened
  // Called by the thread in Ask, before anybody can see the question; a question that it refuses is rejected. May be
  // empty.
  std::function<base::Status(const Approval&)> before_asking;
};

// What a person decided.
struct Verdict {
  bool approve = false;
  Scope scope = Scope::kOnce;
  std::string by;
  std::string from;  // where the person was: an address
  std::string reason;
};

// Thread-safe.
class ApprovalQueue : public ConfirmationService {
 public:
  explicit ApprovalQueue(ApprovalQueueOptions options = {}) : options_(std::move(options)) {}
  // Rejects the questions that wait, and returns when no thread is left in Ask and every listener was told. No other
  // function may be called any more, and no listener may destroy the queue.
  ~ApprovalQueue() override;

  // Rejects at once a question that has no digest, and every question when too many are waiting.
  Answer Ask(const Question& question, base::Deadline deadline, std::stop_token stop) override;

  // The questions that can be answered now, the oldest first.
  [[nodiscard]] std::vector<std::shared_ptr<const Approval>> List() const;

  // A question that can be answered now. With a session, the questions of other sessions are not found. kNotFound:
  // there was none with this id, or it is long ago. kConflict: it was answered already. kRejected: it has expired, or
  // the caller of Ask requested a stop.
  [[nodiscard]] base::Result<std::shared_ptr<const Approval>> Find(
      std::string_view id, std::optional<std::string_view> session = std::nullopt) const;

  // Answers the question. The errors of Find, and: kConflict when `digest` is not the question's, kInvalidArgument for
  // an approval of a session or of content where there is none. After these two the question goes on waiting.
  base::Status Decide(std::string_view id, std::string_view digest, Verdict verdict,
                      std::optional<std::string_view> session = std::nullopt);

  // Tells `listener` of events from now on. A client that subscribes before it calls List misses nothing.
  [[nodiscard]] Subscription Subscribe(Listener listener) { return broadcaster_.Subscribe(std::move(listener)); }
  // Waits until every listener has heard what has happened so far; false when the deadline came first.
  bool AwaitTold(base::Deadline deadline) { return broadcaster_.AwaitTold(deadline); }

 private:
  // With the lock held: why the question cannot wait with the others; nothing when it can.
  [[nodiscard]] std::optional<std::string> TooMuchWith(const Question& question) const;

  // A question that waits; it lies on the stack of its Ask.
  struct Entry {
    std::shared_ptr<const Approval> approval;
    base::Deadline deadline;
    std::optional<Answer> answer;
    std::condition_variable_any answered;
  };
  struct Done {
    std::string id;
    std::string session;
    Decision decision;
  };

  // The caller holds the lock.
  [[nodiscard]] base::Result<Entry*> Answerable(std::string_view id, std::optional<std::string_view> session) const;
  [[nodiscard]] base::Error WhyNot(std::string_view id, std::optional<std::string_view> session) const;
  void Finish(Entry& entry, EventKind kind, Answer answer);

  const ApprovalQueueOptions options_;
  Broadcaster broadcaster_;
  mutable std::mutex mutex_;
  std::condition_variable left_;  // a thread left Ask
  std::vector<Entry*> waiting_;   // in the order in which they were asked
  std::deque<Done> done_;         // the oldest first
  std::size_t asking_ = 0;        // threads in Ask
  bool closing_ = false;
};

}  // namespace skerry::confirm
