// Where a command's code comes from: an argument, a file, or stdin.
#pragma once

#include <optional>
#include <string>

#include "base/result.hpp"
#include "core/execution.hpp"

namespace skerry::cli {

struct CodeSource {
  std::optional<std::string> code;  // "-" is stdin
  std::optional<std::string> file;

  [[nodiscard]] bool IsStdin() const { return !file && code == "-"; }
};

base::Result<std::string> ReadCode(const CodeSource& source);

// The language that the file's extension says; Python where it says nothing.
core::Language LanguageOfFile(const std::string& file);

}  // namespace skerry::cli
