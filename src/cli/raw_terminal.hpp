// The person's terminal while a program in a sandbox has a terminal of its own.
#pragma once

#include <termios.h>

#include "core/backend.hpp"

namespace skerry::cli {

// For as long as it lives every key goes to the program as it is typed, Ctrl-C too; then the terminal is restored. Does
// nothing without a terminal on stdin.
class RawTerminal {
 public:
  RawTerminal();
  RawTerminal(const RawTerminal&) = delete;
  RawTerminal& operator=(const RawTerminal&) = delete;
  ~RawTerminal();

  // The size of stdin, stdout or stderr, whichever is a terminal; 24 by 80 when none is.
  static core::TerminalSize Size();

 private:
  bool changed_ = false;
  termios before_{};
};

}  // namespace skerry::cli
