// What sandboxes use, and the figures of the daemon.
#include <utility>

#include "base/utf8.hpp"
#include "json/history_json.hpp"
#include "transport/v1/api.hpp"

namespace skerry::transport::v1 {
namespace {

constexpr std::size_t kRecent = 60;  // samples of a sandbox in a list

Json UsageToJson(const watch::Sample& sample) {
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

Json AlertsToJson(const std::vector<watch::AlertKind>& alerts) {
  Json names = Json::array();
  for (const watch::AlertKind kind : alerts) names.push_back(watch::NameOf(kind));
  return names;
}

// A sandbox, and for whom it is.
struct Whose {
  std::string session;
  std::string execution;
  std::string tenant;
  std::string state;
  std::string what;
};

Json SandboxToJson(const engine::MonitorReading& reading, const Whose& whose) {
  Json cpu = Json::array();
  Json memory = Json::array();
  for (const watch::Sample& sample : reading.samples) {
    cpu.push_back(sample.cpu_percent);
    memory.push_back(sample.usage.memory_bytes);
  }
  return {{"session_id", whose.session.empty() ? Json(nullptr) : Json(whose.session)},
          {"execution_id", whose.execution.empty() ? Json(nullptr) : Json(whose.execution)},
          {"tenant", whose.tenant},
          {"state", whose.state},
          {"what", base::ToValidUtf8(whose.what)},
          {"started_at", json::Rfc3339(reading.since)},
          {"usage", reading.samples.empty() ? Json(nullptr) : UsageToJson(reading.samples.back())},
          {"recent", {{"cpu_percent", std::move(cpu)}, {"memory_bytes", std::move(memory)}}},
          {"alerts", AlertsToJson(reading.alerts)}};
}

// What runs in a session now, the newest.
std::string WhatRuns(Api& api, const engine::Principal& principal, const std::string& session) {
  const auto runs = api.host.ListRuns(principal, {.session = session, .state = core::RunState::kRunning, .limit = 1});
  return runs && !runs->empty() ? runs->front()->record().what : "";
}

std::vector<Whose> WhoseOf(Api& api, const engine::Principal& principal, const engine::MonitorReading& reading) {
  std::vector<Whose> all;
  if (reading.session.empty()) {
    if (const auto run = api.host.FindRun(principal, reading.execution))
      all.push_back({"", reading.execution, (*run)->record().tenant, "active", (*run)->record().what});
    return all;
  }
  for (const auto& session : api.host.List(principal))
    if (session->life().workspace() == reading.session)
      all.push_back({session->name(), "", session->tenant(), std::string(engine::NameOf(session->condition())),
                     WhatRuns(api, principal, session->id())});
  return all;
}

base::Result<http::Response> Sandboxes(Api& api, const http::Request& request) {
  SKERRY_RETURN_IF_ERROR(OnlyQuery(request, {}));
  const engine::Principal principal = PrincipalOf(request);
  Json items = Json::array();
  for (const engine::MonitorReading& reading : api.host.monitor().All(kRecent))
    for (const Whose& whose : WhoseOf(api, principal, reading)) items.push_back(SandboxToJson(reading, whose));
  return JsonAnswer(200, Page(std::move(items), std::nullopt));
}

base::Result<http::Response> SessionMetrics(Api& api, const http::Request& request) {
  SKERRY_RETURN_IF_ERROR(OnlyQuery(request, {"samples"}));
  const engine::Monitor& monitor = api.host.monitor();
  const std::size_t most = monitor.options().history;
  SKERRY_ASSIGN_OR_RETURN(const std::uint64_t wanted, NumberOf(request, "samples", 1, 100'000, most));
  SKERRY_ASSIGN_OR_RETURN(const auto session, SessionOf(api, request));
  const auto reading = monitor.Of(session->life().workspace(), wanted);
  Json samples = Json::array();
  if (reading)
    for (const watch::Sample& sample : reading->samples) samples.push_back(UsageToJson(sample));
  return JsonAnswer(200, {{"session_id", session->name()},
                          {"has_sandbox", reading && reading->present},
                          {"interval_ms", monitor.options().interval.count()},
                          {"alerts", reading ? AlertsToJson(reading->alerts) : Json::array()},
                          {"samples", std::move(samples)}});
}

base::Result<http::Response> Prometheus(Api& api, const http::Request& request) {
  SKERRY_RETURN_IF_ERROR(OnlyQuery(request, {}));
  return TextAnswer(200, api.host.chronicle().metrics().Exposition(), "text/plain; version=0.0.4; charset=utf-8");
}

}  // namespace

std::vector<http::Route> MonitorRoutes(Api& api) {
  http::Route metrics = MakeRoute(api, "GET", "/metrics", kMetricsScope, kUnrecorded, Prometheus);
  metrics.pattern = "/metrics";  // where Prometheus looks
  return {MakeRoute(api, "GET", "/sandboxes", kReadScope, kUnrecorded, Sandboxes),
          MakeRoute(api, "GET", "/sessions/{session}/metrics", kReadScope, kUnrecorded, SessionMetrics),
          std::move(metrics)};
}

}  // namespace skerry::transport::v1
