// Variables for what runs, and other names with texts, as requests bring them and answers show them.
#pragma once

#include <optional>

#include "transport/v1/api.hpp"

namespace skerry::transport::v1 {

using Variables = kit::TextMap;

// The limits of `Environment` in api/openapi.yaml.
std::optional<Variables> ReadVariables(json::Fields& fields);
// Of `Metadata`.
std::optional<Variables> ReadMetadata(json::Fields& fields);

// With their values for those who may run something, and so could print them; for others null in their place.
Json VariablesToJson(const Variables& variables, const http::Request& request);

}  // namespace skerry::transport::v1
