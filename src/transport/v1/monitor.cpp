// What sandboxes use, and the figures of the daemon.
#include <optional>
#include <utility>

#include "base/utf8.hpp"
#include "engine/views/system_view.hpp"
#include "json/history_json.hpp"
#include "transport/v1/api.hpp"

namespace skerry::transport::v1 {
namespace {

constexpr std::size_t kRecent = 60;  // samples of a sandbox in a list

Json SampleToJson(const engine::UsageSample& sample) {
  const core::SandboxUsage& usage = sample.usage;
  return {{"at", json::Rfc3339(sample.at)},
          {"cpu_percent", sample.cpu_percent},
          {"cpu_limit_percent", usage.cpu_limit_percent},
          {"memory_bytes", usage.memory_bytes},
          {"memory_limit_bytes", usage.memory_limit_bytes},
          {"pids", usage.pids},
          {"pids_limit", usage.pids_limit},
          {"received_bytes", usage.received_bytes},
          {"sent_bytes", usage.sent_bytes},
          {"disk_bytes", usage.disk_bytes},
          {"disk_limit_bytes", usage.disk_limit_bytes}};
}

Json AlertsToJson(const std::vector<engine::UsageAlert>& alerts) {
  Json names = Json::array();
  for (const engine::UsageAlert kind : alerts) names.push_back(NameOf(kind));
  return names;
}

Json SandboxToJson(const engine::ShownSandbox& sandbox) {
  const engine::MonitorReading& reading = sandbox.reading;
  Json cpu = Json::array();
  Json memory = Json::array();
  for (const engine::UsageSample& sample : reading.samples) {
    cpu.push_back(sample.cpu_percent);
    memory.push_back(sample.usage.memory_bytes);
  }
  return {{"session_id", sandbox.session.empty() ? Json(nullptr) : Json(sandbox.session)},
          {"execution_id", sandbox.execution.empty() ? Json(nullptr) : Json(sandbox.execution)},
          {"tenant", sandbox.tenant},
          {"state", sandbox.state},
          {"what", base::ToValidUtf8(sandbox.what)},
          {"started_at", json::Rfc3339(reading.since)},
          {"usage", reading.samples.empty() ? Json(nullptr) : SampleToJson(reading.samples.back())},
          {"recent", {{"cpu_percent", std::move(cpu)}, {"memory_bytes", std::move(memory)}}},
          {"alerts", AlertsToJson(reading.alerts)}};
}

base::Result<http::Response> Sandboxes(Api& api, const http::Request& request) {
  SKERRY_RETURN_IF_ERROR(OnlyQuery(request, {}));
  SKERRY_ASSIGN_OR_RETURN(const auto sandboxes, AccessOf(api, request).system().Sandboxes(kRecent));
  Json items = Json::array();
  for (const engine::ShownSandbox& sandbox : sandboxes) items.push_back(SandboxToJson(sandbox));
  return JsonAnswer(200, Page(std::move(items), std::nullopt));
}

base::Result<http::Response> SessionMetrics(Api& api, const http::Request& request) {
  SKERRY_RETURN_IF_ERROR(OnlyQuery(request, {"samples"}));
  std::optional<std::size_t> wanted;
  if (request.head.query.Find("samples")) {
    SKERRY_ASSIGN_OR_RETURN(wanted, NumberOf(request, "samples", 1, 100'000, 1));
  }
  const engine::Access access = AccessOf(api, request);
  SKERRY_ASSIGN_OR_RETURN(const auto session, SessionOf(access, request));
  SKERRY_ASSIGN_OR_RETURN(const engine::SessionMetrics metrics, access.system().Metrics(session, wanted));
  Json samples = Json::array();
  for (const engine::UsageSample& sample : metrics.samples) samples.push_back(SampleToJson(sample));
  return JsonAnswer(200, {{"session_id", session.name()},
                          {"has_sandbox", metrics.has_sandbox},
                          {"interval_ms", metrics.interval.count()},
                          {"alerts", AlertsToJson(metrics.alerts)},
                          {"samples", std::move(samples)}});
}

base::Result<http::Response> Prometheus(Api& api, const http::Request& request) {
  SKERRY_RETURN_IF_ERROR(OnlyQuery(request, {}));
  SKERRY_ASSIGN_OR_RETURN(std::string figures, AccessOf(api, request).system().Figures());
  return TextAnswer(200, std::move(figures), "text/plain; version=0.0.4; charset=utf-8");
}

}  // namespace

std::vector<http::Route> MonitorRoutes(Api& api) {
  http::Route metrics = MakeRoute(api, "GET", "/metrics", engine::kToMeasure, Prometheus);
  metrics.pattern = "/metrics";  // where Prometheus looks
  return {MakeRoute(api, "GET", "/sandboxes", engine::kToRead, Sandboxes),
          MakeRoute(api, "GET", "/sessions/{session}/metrics", engine::kToRead, SessionMetrics), std::move(metrics)};
}

}  // namespace skerry::transport::v1
