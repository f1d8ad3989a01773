#include "transport/v1/session_json.hpp"

#include "json/history_json.hpp"
#include "transport/v1/variables.hpp"

namespace skerry::transport::v1 {

Json SessionToJson(const engine::ShownSession& session) {
  const engine::SessionSettings& settings = session.settings;
  return {{"id", session.name},
          {"unique_id", session.id},
          {"state", engine::NameOf(session.condition)},
          {"mode", engine::NameOf(settings.mode)},
          {"backend", settings.backend},
          {"image", settings.image ? Json(*settings.image) : Json(nullptr)},
          {"limits",
           {{"memory_mb", settings.limits.memory_mb},
            {"pids", settings.limits.pids},
            {"cpu_percent", settings.limits.cpu_percent},
            {"disk_mb", settings.limits.disk_mb},
            {"timeout_seconds", settings.timeout.count()}}},
          {"network", {{"allowed_domains", Json::array()}}},
          {"environment", VariablesToJson(session.environment)},
          {"metadata", settings.metadata},
          {"idle_seconds", settings.idle.count()},
          {"created_at", json::Rfc3339(session.created_at)},
          {"used_at", json::Rfc3339(session.used_at)},
          {"expires_at", session.expires_at ? Json(json::Rfc3339(*session.expires_at)) : Json(nullptr)},
          {"running", session.running},
          {"tenant", session.tenant}};
}

Json UsageToJson(const engine::WorkspaceUsage& usage) {
  return {{"bytes", usage.bytes}, {"entries", usage.entries}, {"max_bytes", usage.max_bytes}};
}

}  // namespace skerry::transport::v1
