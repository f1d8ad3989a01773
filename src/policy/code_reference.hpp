// Code that a piece of code runs and that stands elsewhere: in a file, in a module, on its input. The analysis, which
// reads no files, tells of it; a caller that can read it has it analysed as well.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/execution.hpp"

namespace skerry::policy {

struct CodeReference {
  enum class Kind : std::uint8_t {
    kSearchPath,  // `name` is a directory where modules of the language are looked for, or commands for none
    kScript,      // `name` is the path of a file that is run
    kModule,      // `name` is what an import of the language names
    kCommand,     // `name` is that of a command, which is looked for where PATH says
    kInput,       // what is read from the standard input
  };
  Kind kind = Kind::kScript;
  // The language of the code there. Nothing where the first line of the code tells, or where the code cannot be
  // analysed.
  std::optional<core::Language> language;
  bool is_foreign = false;  // the code is of a language that cannot be analysed
  bool is_typed = false;    // of the input only what a person types at a terminal
  std::string name;
  std::string directory;   // where the code begins that imports a module; "" for where the whole begins
  std::uint32_t line = 1;  // of the code that refers to it

  auto operator<=>(const CodeReference&) const = default;
};

}  // namespace skerry::policy
