// RecordedQuestions: the answer to every question of a run is in the audit, and published as an event, before the run
// goes on.
#pragma once

#include <chrono>
#include <memory>
#include <utility>

#include "confirm/approval_queue.hpp"
#include "engine/chronicle.hpp"

namespace skerry::engine {

class RecordedQuestions : public confirm::ConfirmationService {
 public:
  // What is not shared is borrowed. `queue` is where people are asked.
  RecordedQuestions(std::shared_ptr<confirm::ConfirmationService> asked, confirm::ApprovalQueue& queue,
                    Chronicle& chronicle, const Run& run)
      : asked_(std::move(asked)), queue_(queue), chronicle_(chronicle), run_(run) {}

  // An approval that cannot be recorded becomes a rejection.
  confirm::Answer Ask(const confirm::Question& question, base::Deadline deadline, std::stop_token stop) override {
    confirm::Answer answer = asked_->Ask(question, deadline, std::move(stop));
    const auto recorded = chronicle_.Decided(run_, question, answer);
    // A client that follows the events hears of the decision before anything that comes of it. The wait is bounded, so
    // that a disk that hangs holds up no run.
    constexpr std::chrono::seconds kPatience{5};
    (void)queue_.AwaitTold(base::Deadline::After(kPatience));
    if (recorded || answer.decision != confirm::Decision::kApproved) return answer;
    return {.decision = confirm::Decision::kRejected, .by = "audit", .reason = recorded.error().message};
  }
  [[nodiscard]] bool Shows() const override { return asked_->Shows(); }

 private:
  std::shared_ptr<confirm::ConfirmationService> asked_;
  confirm::ApprovalQueue& queue_;
  Chronicle& chronicle_;
  const Run& run_;
};

}  // namespace skerry::engine
