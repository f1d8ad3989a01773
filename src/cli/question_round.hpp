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
  nlohmann::ordered_json approval;  // of the contract
  base::Deadline until;             // by our own clock: that of the daemon may be another
};

class QuestionRound {
 public:
  // Behind the others. False for one that is there already, or waits no more.
  bool Add(nlohmann::ordered_json approval);
  // False for one that is not there.
  bool Remove(const std::string& id);
  // These are all that wait. Gives back which are gone.
  std::vector<std::string> Replace(const nlohmann::ordered_json& approvals);
  // The one in front goes behind the others.
  void Next();

  [[nodiscard]] const WaitingQuestion* front() const { return waiting_.empty() ? nullptr : &waiting_.front(); }
  [[nodiscard]] std::size_t size() const { return waiting_.size(); }

 private:
  std::deque<WaitingQuestion> waiting_;
};

// What the last row of the terminal says.
struct RoundStatus {
  enum class Keys { kHeeded, kNotYet };
  enum class Line { kThere, kLost };
  Keys keys = Keys::kHeeded;
  Line line = Line::kThere;
  std::optional<std::string> reason = {};  // that is being typed
};
// Never wider than `width`.
std::string StatusRow(const QuestionRound& round, const RoundStatus& status, std::size_t width);

}  // namespace skerry::cli
