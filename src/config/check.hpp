// One value against its node of the schema.
#pragma once

#include <string>
#include <string_view>

#include "base/result.hpp"
#include "config/schema.hpp"

namespace skerry::config {

// The value as it is kept (30.0 becomes 30, as JSON Schema has it), or what is wrong and what is allowed: "<path>:
// <problem>". A secret is never part of the message.
base::Result<Json> CheckValue(const Node& node, const Json& value);

// The value of a variable or a flag: digits, true, false, 1, 0, text as it is, a list with commas or as a JSON array.
base::Result<Json> ReadTypedText(const Node& node, std::string_view text);

// "<path>: <problem>" as the error of whoever reads a configuration.
std::unexpected<base::Error> Refused(std::string_view path, std::string_view problem);

}  // namespace skerry::config
