// TerminalConfirmation: the person at the terminal is asked.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "confirm/code_view.hpp"
#include "confirm/confirmation.hpp"

namespace skerry::confirm {

// A terminal with a person at it. TerminalConfirmation calls it from one thread at a time, and does no I/O itself.
class Terminal {
 public:
  Terminal() = default;
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;
  virtual ~Terminal() = default;

  // Whether there is a terminal with a person at all.
  virtual bool IsInteractive() = 0;
  virtual void Write(std::string_view text) = 0;
  // Reads a line, without its line end. Nothing at the end of input, at the deadline, or when `stop` is requested.
  virtual std::optional<std::string> ReadLine(base::Deadline deadline, std::stop_token stop) = 0;
  // Drops what was typed and not read yet.
  virtual void DiscardTypeahead() = 0;
  virtual Colour Colours() = 0;
  // Columns; 0 when that is not known.
  virtual unsigned Width() = 0;
};

struct TerminalOptions {
  bool allow_session = true;   // offer [s] where the question has a session
  std::size_t max_rows = 500;  // of code; of more, see CodeViewOptions
  std::size_t context = 3;     // lines
};

// Shows the code that would run, all of it or with a line that says how much is not shown, and asks. Only y, yes, s and
// session approve. Without a terminal every question is rejected. Questions of several threads are asked one after
// another.
class TerminalConfirmation : public ConfirmationService {
 public:
  // `terminal` is borrowed.
  explicit TerminalConfirmation(Terminal& terminal, TerminalOptions options = {})
      : terminal_(terminal), options_(options) {}

  Answer Ask(const Question& question, base::Deadline deadline, std::stop_token stop) override;

 private:
  // Asks one question. No other thread uses the terminal meanwhile.
  Answer Converse(const Question& question, base::Deadline deadline, const std::stop_token& stop);
  [[nodiscard]] std::string Describe(const Question& question);

  Terminal& terminal_;
  const TerminalOptions options_;
  std::mutex mutex_;
  std::condition_variable_any free_;
  bool busy_ = false;
};

}  // namespace skerry::confirm
