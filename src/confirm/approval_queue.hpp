// ApprovalQueue: questions wait here until somebody connected answers them.
//
//  - An answer names the question's id and the digest of what was shown. A wrong digest answers nothing.
//  - A question is answered at most once, and an answer serves the one Ask that put the question.
//  - What has expired cannot be answered any more, even if its asker has not noticed yet.
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
  std::size_t max_waiting = 1'000;           // more are rejected at once
  std::size_t max_of_tenant = 250;           // of them one tenant's
  std::size_t max_code_of_tenant = std::size_t{16} << 20U;  // bytes; one alone may have more
  std::size_t max_remembered = 1'000;  // of the questions that are done, so that a replay is told what happened
  // Called by whoever asks, before anybody can see the question; what it refuses is rejected. May be empty.
  std::function<base::Status(const Approval&)> before_asking;
};

// What a person decided.
struct Verdict {
  bool approve = false;
  Scope scope = Scope::kOnce;
  std::string by;
  std::string from;  // where they were: an address
  std::string reason;
};

// Thread-safe.
class ApprovalQueue : public ConfirmationService {
 public:
  explicit ApprovalQueue(ApprovalQueueOptions options = {}) : options_(std::move(options)) {}
  // Rejects what waits and returns when no thread is left in Ask and every listener was told. Nothing else may be
  // called any more, and no listener may do this.
  ~ApprovalQueue() override;

  // Rejects at once what has no digest, and when too many are waiting.
  Answer Ask(const Question& question, base::Deadline deadline, std::stop_token stop) override;

  // What can be answered now, the oldest first.
  [[nodiscard]] std::vector<std::shared_ptr<const Approval>> List() const;

  // One that can be answered now. With a session, those of other sessions are not there.
  // kNotFound: there was none with this id, or it is long ago. kConflict: it was answered already. kRejected: it has
  // expired, or the asker went away.
  [[nodiscard]] base::Result<std::shared_ptr<const Approval>> Find(
      std::string_view id, std::optional<std::string_view> session = std::nullopt) const;

  // Answers it. The errors of Find, and: kConflict when `digest` is not the question's, kInvalidArgument for an
  // approval of a session or of content where there is none. The question goes on waiting after these two.
  base::Status Decide(std::string_view id, std::string_view digest, Verdict verdict,
                      std::optional<std::string_view> session = std::nullopt);

  // From now on; whoever subscribes before they List miss nothing.
  [[nodiscard]] Subscription Subscribe(Listener listener) { return broadcaster_.Subscribe(std::move(listener)); }
  // Until all who listen have heard what has happened so far; false when the deadline was earlier.
  bool AwaitTold(base::Deadline deadline) { return broadcaster_.AwaitTold(deadline); }

 private:
  // With the lock: why it cannot wait with the others; nothing when it can.
  [[nodiscard]] std::optional<std::string> TooMuchWith(const Question& question) const;

  // On the stack of its Ask.
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

  // These need the lock.
  [[nodiscard]] base::Result<Entry*> Answerable(std::string_view id, std::optional<std::string_view> session) const;
  [[nodiscard]] base::Error WhyNot(std::string_view id, std::optional<std::string_view> session) const;
  void Finish(Entry& entry, EventKind kind, Answer answer);

  const ApprovalQueueOptions options_;
  Broadcaster broadcaster_;
  mutable std::mutex mutex_;
  std::condition_variable left_;  // somebody left Ask
  std::vector<Entry*> waiting_;   // in the order of asking
  std::deque<Done> done_;         // the oldest first
  std::size_t asking_ = 0;        // threads in Ask
  bool closing_ = false;
};

}  // namespace skerry::confirm
