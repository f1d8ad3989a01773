// Cursors of a search: the position of its last match, as text that a client gives back as it is.
#pragma once

#include <string>
#include <string_view>

#include "base/result.hpp"
#include "workspace/search.hpp"

namespace skerry::transport::v1 {

std::string SearchCursor(const workspace::SearchPosition& position);
// kInvalidArgument for what SearchCursor did not make.
base::Result<workspace::SearchPosition> ParseSearchCursor(std::string_view text);

}  // namespace skerry::transport::v1
