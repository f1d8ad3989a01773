// Programs that read files of the workspace which no code names: `make` reads a Makefile.
#pragma once

#include <span>
#include <string_view>

namespace skerry::engine {

// A row of the table: the program, and the files that it reads first, from the directory where it is started.
struct ImplicitInputs {
  std::string_view program;
  std::span<const std::string_view> files;
  bool is_a_word = false;  // the name is an ordinary word too: it counts only where commands are written
};

// The row of a program, by its name or path, or nullptr. Its files are where such a program begins, never all that it
// reads.
const ImplicitInputs* ImplicitInputsOf(std::string_view program);

}  // namespace skerry::engine
