#include "engine/session_settings.hpp"

#include <array>
#include <utility>

#include <nlohmann/json.hpp>

#include "json/text.hpp"

namespace skerry::engine {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::array kModes = {std::pair{LifeMode::kPerSession, std::string_view("per-session")},
                               std::pair{LifeMode::kShared, std::string_view("shared")},
                               std::pair{LifeMode::kDisabled, std::string_view("disabled")}};

constexpr int kVersion = 2;  // of the stored form; the first had no number

// The one list of which limit has which name.
template <class Visit>
void ForEachLimit(const Visit& visit) {
  visit("memory_mb", &core::SandboxLimits::memory_mb);
  visit("pids", &core::SandboxLimits::pids);
  visit("cpu_percent", &core::SandboxLimits::cpu_percent);
  visit("open_files", &core::SandboxLimits::open_files);
  visit("file_mb", &core::SandboxLimits::file_mb);
  visit("tmp_mb", &core::SandboxLimits::tmp_mb);
  visit("disk_mb", &core::SandboxLimits::disk_mb);
  visit("disk_files", &core::SandboxLimits::disk_files);
}

}  // namespace

std::string_view NameOf(LifeMode mode) {
  for (const auto& [row, name] : kModes)
    if (row == mode) return name;
  return "";
}

std::optional<LifeMode> ParseLifeMode(std::string_view name) {
  for (const auto& [mode, row] : kModes)
    if (row == name) return mode;
  return std::nullopt;
}

std::string EncodeSettings(const SessionSettings& settings) {
  Json limits = Json::object();
  ForEachLimit([&](const char* name, auto member) { limits[name] = settings.limits.*member; });
  Json object = {{"v", kVersion},
                 {"mode", NameOf(settings.mode)},
                 {"backend", settings.backend},
                 {"limits", std::move(limits)},
                 {"timeout_seconds", settings.timeout.count()},
                 {"environment", settings.environment},
                 {"metadata", settings.metadata},
                 {"idle_seconds", settings.idle.count()}};
  if (!settings.secrets.empty()) object["secrets"] = settings.secrets;
  if (settings.image) object["image"] = *settings.image;
  return json::Text(object);
}

base::Result<SessionSettings> DecodeSettings(std::string_view text) {
  const Json object = json::Parse(text);
  try {
    SessionSettings settings;
    const auto mode = ParseLifeMode(object.at("mode").get<std::string>());
    if (!mode) return base::Err(base::Code::kInternal, "the settings of a session have an unknown mode");
    settings.mode = *mode;
    settings.backend = object.at("backend").get<std::string>();
    // A limit that did not exist when the session was made has its default.
    const Json& limits = object.at("limits");
    ForEachLimit(
        [&](const char* name, auto member) { settings.limits.*member = limits.value(name, settings.limits.*member); });
    settings.timeout = std::chrono::seconds(object.at("timeout_seconds").get<std::int64_t>());
    settings.environment = object.at("environment").get<std::map<std::string, std::string>>();
    settings.metadata = object.at("metadata").get<std::map<std::string, std::string>>();
    settings.idle = std::chrono::seconds(object.at("idle_seconds").get<std::int64_t>());
    if (object.contains("secrets")) settings.secrets = object.at("secrets").get<std::set<std::string>>();
    if (object.contains("image")) settings.image = object.at("image").get<std::string>();
    return settings;
  } catch (const Json::exception& error) {
    return base::Err(base::Code::kInternal, std::string("the settings of a session cannot be read: ") + error.what());
  }
}

}  // namespace skerry::engine
