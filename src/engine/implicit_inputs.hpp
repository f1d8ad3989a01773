// Programs that read files of the workspace which nobody names: `make` reads a Makefile.
#pragma once

#include <span>
#include <string_view>

namespace skerry::engine {

// A row of the table: the program, and the files that it reads first, from where it is started.
struct ImplicitInputs {
  std::string_view program;
  std::span<const std::string_view> files;
  bool is_a_word = false;  // of English or of other languages too: it counts where commands are written
};

// That of a program by its name or path, or nullptr. The list of files is what such a program begins with and never all
// that it reads.
const ImplicitInputs* ImplicitInputsOf(std::string_view program);

}  // namespace skerry::engine
