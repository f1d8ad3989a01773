// Variables of runs and metadata, as requests bring them and answers show them.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "transport/v1/api.hpp"

namespace skerry::transport::v1 {

using Variables = kit::TextMap;

// The limits of `Environment` in api/openapi.yaml.
std::optional<Variables> ReadVariables(json::Fields& fields);
// The limits of `Metadata`.
std::optional<Variables> ReadMetadata(json::Fields& fields);

// null in the place of a value that the client may not see.
Json VariablesToJson(const std::map<std::string, std::optional<std::string>>& variables);

}  // namespace skerry::transport::v1
