// Cursors of a search: the position of its last match, as text that a client returns unchanged.
#pragma once

#include <string>
#include <string_view>

#include "base/result.hpp"
#include "workspace/search.hpp"

namespace skerry::transport::v1 {

std::string SearchCursor(const workspace::SearchPosition& position);
// kInvalidArgument for a text that SearchCursor did not make.
base::Result<workspace::SearchPosition> ParseSearchCursor(std::string_view text);

}  // namespace skerry::transport::v1
