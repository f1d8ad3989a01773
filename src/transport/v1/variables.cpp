#include "transport/v1/variables.hpp"

namespace skerry::transport::v1 {
namespace {

constexpr kit::TextMapLimits kMetadata{.most = 64, .longest_name = 128, .longest = 1024, .together = 524'288};

}  // namespace

std::optional<Variables> ReadVariables(json::Fields& fields) {
  return kit::ReadTextMap(fields, "environment", kit::kVariableLimits);
}

std::optional<Variables> ReadMetadata(json::Fields& fields) {
  return kit::ReadTextMap(fields, "metadata", kMetadata);
}

Json VariablesToJson(const std::map<std::string, std::optional<std::string>>& variables) {
  Json shown = Json::object();
  for (const auto& [name, value] : variables) shown[name] = value ? Json(*value) : Json(nullptr);
  return shown;
}

}  // namespace skerry::transport::v1
