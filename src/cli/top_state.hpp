// What the person at skerry top has chosen, and what keys do.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/key_terminal.hpp"
#include "cli/top_view.hpp"

namespace skerry::cli {

// What a key asks for besides another page.
struct TopWish {
  enum class Kind { kNothing, kQuit, kEndRuns };
  Kind kind = Kind::kNothing;
  SandboxReading whom = {};  // for kEndRuns
};

class TopState {
 public:
  explicit TopState(TopSort sort) : sort_(sort) {}

  // Takes and sorts new figures. The selection stays on its sandbox, and goes to the first when that is gone.
  void Take(std::vector<SandboxReading> readings);
  TopWish Press(const Key& key);

  [[nodiscard]] const std::vector<SandboxReading>& readings() const { return readings_; }
  // The page, except for what only the screen knows. `notice` is shown unless there is a question.
  [[nodiscard]] TopPage Page(const std::string& notice) const;

 private:
  TopWish PressWhileAsked(const Key& key);
  void Move(int step);
  void SortBy(TopSort sort);

  std::vector<SandboxReading> readings_;
  TopSort sort_;
  TopPage::Kind kind_ = TopPage::Kind::kTable;
  std::string selected_;
  std::optional<SandboxReading> asked_;  // the sandbox whose runs the person is asked about ending
};

}  // namespace skerry::cli
