// AutoApprove: nobody is asked. For development and for `--yes`.
#pragma once

#include <string>
#include <utility>

#include "confirm/confirmation.hpp"

namespace skerry::confirm {

// Approves everything at once, for this one time.
class AutoApprove : public ConfirmationService {
 public:
  // `by` says in the record who approved: "--yes", "confirmation = auto".
  explicit AutoApprove(std::string by) : by_(std::move(by)) {}

  Answer Ask(const Question& question, base::Deadline deadline, std::stop_token stop) override;
  [[nodiscard]] bool Shows() const override { return false; }

 private:
  std::string by_;
};

}  // namespace skerry::confirm
