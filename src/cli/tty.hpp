// The person's terminal, for questions: not stdin, which may be the program's, nor stdout, which may go to a file.
#pragma once

#include "base/unique_fd.hpp"
#include "confirm/terminal_confirmation.hpp"

namespace skerry::cli {

class Tty : public confirm::Terminal {
 public:
  // There is a terminal when stderr is one and /dev/tty, or a terminal on stdin, can be read.
  Tty();

  bool IsInteractive() override { return fd_.valid(); }
  void Write(std::string_view text) override;
  std::optional<std::string> ReadLine(base::Deadline deadline, std::stop_token stop) override;
  void DiscardTypeahead() override;
  confirm::Colour Colours() override;
  unsigned Width() override;

 private:
  base::UniqueFd fd_;
};

// Whether text on this descriptor may have colours: a terminal that is not dumb, and no NO_COLOR.
confirm::Colour ColoursFor(int fd);

}  // namespace skerry::cli
