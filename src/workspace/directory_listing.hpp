// One page of a directory, by name.
#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"
#include "base/unique_fd.hpp"

namespace skerry::workspace {

struct NamePage {
  std::vector<std::string> names;  // in the order of their bytes
  bool more = false;               // there are names behind them
};

// The first `limit` names behind `after`, without the dots and Skerry's private names. Takes the descriptor over.
// Memory is bounded by the limit, whatever is in the directory.
base::Result<NamePage> PageOf(base::UniqueFd directory, const std::string& after, std::size_t limit);

}  // namespace skerry::workspace
