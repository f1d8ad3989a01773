// NAME=VALUE on the command line.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "base/result.hpp"

namespace skerry::cli {

// An object with a text for each name; the last value of a name counts. kInvalidArgument, with the name of the option,
// for an item without =, without a name, or that is no UTF-8.
base::Result<nlohmann::ordered_json> AssignmentsToJson(const std::vector<std::string>& items,
                                                       const std::string& option);

}  // namespace skerry::cli
