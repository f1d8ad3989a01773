// RecordedQuestions: the answer to every question of a run is in the audit before the run goes on.
#pragma once

#include <memory>
#include <utility>

#include "confirm/confirmation.hpp"
#include "engine/chronicle.hpp"

namespace skerry::engine {

class RecordedQuestions : public confirm::ConfirmationService {
 public:
  // The chronicle and the run are borrowed.
  RecordedQuestions(std::shared_ptr<confirm::ConfirmationService> asked, Chronicle& chronicle, const Run& run)
      : asked_(std::move(asked)), chronicle_(chronicle), run_(run) {}

  // A yes that cannot be recorded is a no.
  confirm::Answer Ask(const confirm::Question& question, base::Deadline deadline, std::stop_token stop) override {
    confirm::Answer answer = asked_->Ask(question, deadline, std::move(stop));
    const auto recorded = chronicle_.Decided(run_, question, answer);
    if (recorded || answer.decision != confirm::Decision::kApproved) return answer;
    return {.decision = confirm::Decision::kRejected, .by = "audit", .reason = recorded.error().message};
  }

 private:
  std::shared_ptr<confirm::ConfirmationService> asked_;
  Chronicle& chronicle_;
  const Run& run_;
};

}  // namespace skerry::engine
