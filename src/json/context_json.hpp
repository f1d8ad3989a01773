// The JSON form of a cell's result: the names of an execution's result where they apply, and names for what only
// contexts have.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/context.hpp"

namespace skerry::json {

struct CellReport {
  std::string context;
  core::Language language = core::Language::kPython;
  std::uint64_t cell = 0;  // the number of the cell in its context, from 1
  core::CellResult result;
  std::string standard_output;
  std::string standard_error;
  core::StartKind start = core::StartKind::kExec;
  std::chrono::milliseconds execution_time{0};
  std::vector<std::string> degraded;
};

// One line, valid JSON whatever the program said. Bytes that are no UTF-8 are treated as in execution_json.hpp.
std::string ToJson(const CellReport& report);

// The object of ToJson with these streams in place of its own. A text that is no object of ToJson comes back unchanged.
std::string WithStreams(const std::string& report, const std::string& standard_output,
                        const std::string& standard_error);

// Decodes base64; nothing for a text that is none. Line breaks are passed over.
std::optional<std::string> FromBase64(std::string_view text);

}  // namespace skerry::json
