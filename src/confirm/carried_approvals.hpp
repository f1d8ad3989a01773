// CarriedApprovals: for a service whose clients ask the person themselves. An approval comes with the request that it
// is for, and is used up by it.
#pragma once

#include <map>
#include <mutex>
#include <string>
#include <utility>

#include "confirm/confirmation.hpp"

namespace skerry::confirm {

// Thread-safe.
class CarriedApprovals : public ConfirmationService {
 public:
  // The next question of this session about this digest has this answer.
  void Expect(const std::string& session, const std::string& digest, Answer answer);
  // Drops an answer that was not used.
  void Withdraw(const std::string& session, const std::string& digest);

  // Gives the answer that is expected; a question without one is rejected at once.
  Answer Ask(const Question& question, base::Deadline deadline, std::stop_token stop) override;

 private:
  std::mutex mutex_;
  std::multimap<std::pair<std::string, std::string>, Answer> expected_;
};

}  // namespace skerry::confirm
