// Variables for what runs, and other names with texts, as requests bring them and answers show them.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "transport/v1/api.hpp"

namespace skerry::transport::v1 {

using Variables = std::map<std::string, std::string>;

// The limits of `Environment` in api/openapi.yaml: 256 of them, a value has 32768 bytes at most, all together 98304, so
// that those of a session, those of a run and some arguments fit into one message to a sandbox.
std::optional<Variables> ReadVariables(json::Fields& fields);
// Of `Metadata`.
std::optional<Variables> ReadMetadata(json::Fields& fields);

// With their values for those who may run something, and so could print them; for others null in their place.
Json VariablesToJson(const Variables& variables, const http::Request& request);

}  // namespace skerry::transport::v1
