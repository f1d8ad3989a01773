// Requests with JSON.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "base/result.hpp"
#include "json/strict.hpp"
#include "transport/http/dialect.hpp"

namespace skerry::transport::kit {

// The body as JSON; an empty one is {}. kInvalidArgument. For a route with BodyRule::kSmall.
base::Result<nlohmann::json> JsonBodyOf(const http::Request& request);

// Names with texts: variables, metadata, labels.
using TextMap = std::map<std::string, std::string>;
struct TextMapLimits {
  std::size_t most = 0;
  std::size_t longest_name = 0;  // in bytes, as the following
  std::size_t longest = 0;       // of a text
  std::size_t together = 0;      // of all names and texts
};

// For the variables of programs: those of a session, those of a run and some arguments fit into one message to a
// sandbox.
inline constexpr TextMapLimits kVariableLimits{.most = 256, .longest_name = 256, .longest = 32'768, .together = 98'304};

// Nothing when the field is not there. A wrong value is reported to `fields`.
std::optional<TextMap> ReadTextMap(json::Fields& fields, std::string_view name, const TextMapLimits& limits);

}  // namespace skerry::transport::kit
