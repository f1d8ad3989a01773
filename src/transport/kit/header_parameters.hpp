// The value of a header that has parameters: `form-data; name="a"; filename="b"`.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.hpp"

namespace skerry::transport::kit {

struct ParameterizedValue {
  std::string word;                                             // in lower case
  std::vector<std::pair<std::string, std::string>> parameters;  // names in lower case, each once
  [[nodiscard]] std::optional<std::string> Find(std::string_view name) const;
};

// kInvalidArgument. In quotes `\"` and `\\` stand for one letter; any other backslash is kept, as old browsers send it
// in the paths of files.
base::Result<ParameterizedValue> ParseParameters(std::string_view text);

}  // namespace skerry::transport::kit
