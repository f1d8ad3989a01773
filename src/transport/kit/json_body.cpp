#include "transport/kit/json_body.hpp"

namespace skerry::transport::kit {

base::Result<nlohmann::json> JsonBodyOf(const http::Request& request) {
  if (request.body.size == 0) return nlohmann::json::object();
  return json::ParseStrict(request.body.bytes);
}

std::optional<TextMap> ReadTextMap(json::Fields& fields, std::string_view name, const TextMapLimits& limits) {
  auto texts = fields.Map(name, limits.most, limits.longest);
  if (!texts) return std::nullopt;
  std::size_t together = 0;
  for (const auto& [key, value] : *texts) {
    together += key.size() + value.size();
    if (key.empty() || key.size() > limits.longest_name)
      fields.Fail(name, "must have names of 1 to " + std::to_string(limits.longest_name) + " bytes");
  }
  if (together > limits.together)
    fields.Fail(name, "must hold at most " + std::to_string(limits.together) + " bytes in all");
  return texts;
}

}  // namespace skerry::transport::kit
