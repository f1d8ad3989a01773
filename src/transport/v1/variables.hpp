// Variables of runs and metadata, as requests bring them and answers show them.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>

#include "transport/v1/api.hpp"

namespace skerry::transport::v1 {

// `environment` and `secrets`, within the limits of `Environment` in api/openapi.yaml. What is not in the body stays as
// it is.
void ReadEnvironment(json::Fields& fields, std::map<std::string, std::string>& environment,
                     std::set<std::string>& secrets);
// The limits of `Metadata`.
std::optional<kit::TextMap> ReadMetadata(json::Fields& fields);

// null in the place of a value that the client may not see.
Json VariablesToJson(const std::map<std::string, std::optional<std::string>>& variables);

}  // namespace skerry::transport::v1
