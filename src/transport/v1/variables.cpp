#include "transport/v1/variables.hpp"

namespace skerry::transport::v1 {
namespace {

struct TextLimits {
  std::size_t most;
  std::size_t longest_name;
  std::size_t longest;
  std::size_t together;
};
constexpr TextLimits kVariables{.most = 256, .longest_name = 256, .longest = 32'768, .together = 98'304};
constexpr TextLimits kMetadata{.most = 64, .longest_name = 128, .longest = 1024, .together = 524'288};

std::optional<Variables> ReadTexts(json::Fields& fields, const char* name, const TextLimits& limits) {
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

}  // namespace

std::optional<Variables> ReadVariables(json::Fields& fields) {
  return ReadTexts(fields, "environment", kVariables);
}

std::optional<Variables> ReadMetadata(json::Fields& fields) {
  return ReadTexts(fields, "metadata", kMetadata);
}

Json VariablesToJson(const Variables& variables, const http::Request& request) {
  const bool may_run = (request.caller.scopes & kRunScope) != 0;
  Json shown = Json::object();
  for (const auto& [name, value] : variables) shown[name] = may_run ? Json(value) : Json(nullptr);
  return shown;
}

}  // namespace skerry::transport::v1
