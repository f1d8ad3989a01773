// What a cell shows and how it fails: the parts of its result that programs without a context do not have.
#pragma once

#include <string>
#include <vector>

namespace skerry::core {

// One thing in several forms: text/plain, text/html, image/png (base64), image/svg+xml, application/json.
struct RichData {
  std::string mime;
  std::string data;

  bool operator==(const RichData&) const = default;
};

struct CellOutput {
  enum class Kind { kDisplay, kResult };  // shown on the way; the value of the last expression
  Kind kind = Kind::kDisplay;
  std::vector<RichData> forms;

  bool operator==(const CellOutput&) const = default;
};

// An exception that nobody caught, or the exit status of a shell's last command.
struct CellError {
  std::string name;
  std::string message;
  std::string traceback;

  bool operator==(const CellError&) const = default;
};

}  // namespace skerry::core
