// What the person at skerry top has chosen, and what their keys do.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/key_terminal.hpp"
#include "cli/top_view.hpp"

namespace skerry::cli {

// What has to be done besides showing another page.
struct TopWish {
  enum class Kind { kNothing, kQuit, kEndRuns };
  Kind kind = Kind::kNothing;
  SandboxReading whom = {};  // of kEndRuns
};

class TopState {
 public:
  explicit TopState(TopSort sort) : sort_(sort) {}

  // New figures; sorts them. The selection stays on its sandbox, and goes to the first when that is gone.
  void Take(std::vector<SandboxReading> readings);
  TopWish Press(const Key& key);

  [[nodiscard]] const std::vector<SandboxReading>& readings() const { return readings_; }
  // What is shown, but for what the screen knows. `notice` is shown unless there is a question.
  [[nodiscard]] TopPage Page(const std::string& notice) const;

 private:
  TopWish PressWhileAsked(const Key& key);
  void Move(int step);
  void SortBy(TopSort sort);

  std::vector<SandboxReading> readings_;
  TopSort sort_;
  TopPage::Kind kind_ = TopPage::Kind::kTable;
  std::string selected_;
  std::optional<SandboxReading> asked_;  // whether to end what runs in it
};

}  // namespace skerry::cli
