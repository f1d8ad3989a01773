#include "engine/package_description.hpp"

#include <algorithm>

#include <nlohmann/json.hpp>

namespace skerry::engine {
namespace {

// Not the type of json/text.hpp, which keeps the order of keys: adding a key compares it with all before it.
using Json = nlohmann::json;
using Routes = PackageDescription::Routes;

constexpr int kMostDepth = 16;

// Collects every text in the value. False where it is nested too deeply.
bool CollectTexts(const Json& value, int depth, std::vector<std::string>& texts) {
  if (value.is_string()) texts.push_back(value.get<std::string>());
  if (!value.is_structured()) return true;
  if (depth >= kMostDepth) return false;
  return std::ranges::all_of(value, [&](const Json& each) { return CollectTexts(each, depth + 1, texts); });
}

bool IsRoute(std::string_view key) {
  return key.starts_with('.') || key.starts_with('#');
}

// Without names of its own the value is about the package itself.
bool CollectRoutes(const Json& value, Routes& routes) {
  const bool has_names = value.is_object() && !value.empty() && IsRoute(value.begin().key());
  if (!has_names) return CollectTexts(value, 0, routes.emplace_back(".", std::vector<std::string>()).second);
  return std::ranges::all_of(value.items(), [&](const auto& each) {
    return CollectTexts(each.value(), 0, routes.emplace_back(each.key(), std::vector<std::string>()).second);
  });
}

std::string Filled(std::string_view target, std::string_view part) {
  std::string filled;
  for (const char c : target)
    if (c == '*')
      filled += part;
    else
      filled += c;
  return filled;
}

}  // namespace

PackageDescription ReadPackageDescription(std::string_view text) {
  PackageDescription description;
  const Json json = Json::parse(text, nullptr, false);
  if (!json.is_object()) return description;
  if (const auto name = json.find("name"); name != json.end() && name->is_string()) description.name = *name;
  for (const char* key : {"main", "module"})
    if (json.contains(key)) description.is_whole &= CollectTexts(json[key], 0, description.mains);
  if (json.contains("exports")) description.is_whole &= CollectRoutes(json["exports"], description.exports);
  if (json.contains("imports")) description.is_whole &= CollectRoutes(json["imports"], description.imports);
  return description;
}

std::vector<std::string> TargetsOf(const Routes& routes, std::string_view name) {
  std::vector<std::string> targets;
  for (const auto& [key, texts] : routes) {
    const std::size_t star = key.find('*');
    if (key == name) {
      targets.insert(targets.end(), texts.begin(), texts.end());
    } else if (star != std::string::npos) {
      const std::string_view before = std::string_view(key).substr(0, star);
      const std::string_view after = std::string_view(key).substr(star + 1);
      if (name.size() < before.size() + after.size() || !name.starts_with(before) || !name.ends_with(after)) continue;
      const std::string_view part = name.substr(before.size(), name.size() - before.size() - after.size());
      for (const std::string& text : texts) targets.push_back(Filled(text, part));
    } else if (key.ends_with('/') && name.starts_with(key)) {
      for (const std::string& text : texts) targets.push_back(text + std::string(name.substr(key.size())));
    }
  }
  return targets;
}

}  // namespace skerry::engine
