// QuestionRound: the questions that wait for a person, one of them in front.
#pragma once

#include <cstddef>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/deadline.hpp"

namespace skerry::cli {

struct WaitingQuestion {
  std::string id;
  nlohmann::ordered_json approval;  // an Approval of the contract
  base::Deadline until;             // by this machine's clock: the daemon's may differ
};

class QuestionRound {
 public:
  // Adds an approval as the last. False for one that is there already, or does not wait any more.
  bool Add(nlohmann::ordered_json approval);
  // False for an approval that is not there.
  bool Remove(const std::string& id);
  // Makes these all the waiting ones. Gives the ids that are gone.
  std::vector<std::string> Replace(const nlohmann::ordered_json& approvals);
  // Moves the first question to the end.
  void Next();

  [[nodiscard]] const WaitingQuestion* front() const { return waiting_.empty() ? nullptr : &waiting_.front(); }
  [[nodiscard]] std::size_t size() const { return waiting_.size(); }

 private:
  std::deque<WaitingQuestion> waiting_;
};

// The last row of the terminal.
struct RoundStatus {
  enum class Keys { kHeeded, kNotYet };
  enum class Line { kThere, kLost };
  Keys keys = Keys::kHeeded;
  Line line = Line::kThere;
  std::optional<std::string> reason = {};  // being typed
};
// Never wider than `width`.
std::string StatusRow(const QuestionRound& round, const RoundStatus& status, std::size_t width);

}  // namespace skerry::cli
