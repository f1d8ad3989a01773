#include "transport/v1/variables.hpp"

namespace skerry::transport::v1 {
namespace {

constexpr kit::TextMapLimits kMetadata{.most = 64, .longest_name = 128, .longest = 1024, .together = 524'288};

}  // namespace

void ReadEnvironment(json::Fields& fields, std::map<std::string, std::string>& environment,
                     std::set<std::string>& secrets) {
  if (auto variables = kit::ReadTextMap(fields, "environment", kit::kVariableLimits))
    environment = *std::move(variables);
  const auto secret = kit::ReadTextMap(fields, "secrets", kit::kVariableLimits);
  if (!secret) return;
  for (const auto& [name, value] : *secret) {
    if (!environment.emplace(name, value).second) fields.Fail("secrets", "has " + name + ", and environment too");
    secrets.insert(name);
  }
}

std::optional<kit::TextMap> ReadMetadata(json::Fields& fields) {
  return kit::ReadTextMap(fields, "metadata", kMetadata);
}

Json VariablesToJson(const std::map<std::string, std::optional<std::string>>& variables) {
  Json shown = Json::object();
  for (const auto& [name, value] : variables) shown[name] = value ? Json(*value) : Json(nullptr);
  return shown;
}

}  // namespace skerry::transport::v1
