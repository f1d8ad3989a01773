// One value against its node of the schema.
#pragma once

#include <string>
#include <string_view>

#include "base/result.hpp"
#include "config/schema.hpp"

namespace skerry::config {

// The value as the configuration keeps it (30.0 becomes 30, as JSON Schema has it), or an error with the problem and
// what is allowed: "<path>: <problem>". A secret is never part of the message.
base::Result<Json> CheckValue(const Node& node, const Json& value);

// The value of a variable or a flag: digits, true, false, 1, 0, text as it is, a list with commas or as a JSON array.
base::Result<Json> ReadTypedText(const Node& node, std::string_view text);

// The error kInvalidArgument with the message "<path>: <problem>".
std::unexpected<base::Error> Refused(std::string_view path, std::string_view problem);

}  // namespace skerry::config
