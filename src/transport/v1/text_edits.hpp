// Edits of a text file as JSON: [{"replace": OLD, "with": NEW, "count": 2}, {"insert": LINE, "text": TEXT}].
#pragma once

#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "base/result.hpp"
#include "text/text_edit.hpp"

namespace skerry::transport::v1 {

// `count` is a number from 1, or "all"; 1 when it is missing. kInvalidArgument, with the number of the edit, for any
// other form.
base::Result<std::vector<text::TextEdit>> EditsOf(const nlohmann::json& array);

}  // namespace skerry::transport::v1
