// Edits of a text file as JSON: [{"replace": OLD, "with": NEW, "count": 2}, {"insert": LINE, "text": TEXT}].
#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"
#include "workspace/text_edit.hpp"

namespace skerry::cli {

// `count` is a number from 1, or "all"; 1 when it is missing. kInvalidArgument, with the number of the edit, for
// everything that is not exactly so.
base::Result<std::vector<workspace::TextEdit>> ParseEdits(const std::string& text);

}  // namespace skerry::cli
