#include "engine/views/system_view.hpp"

#include "engine/host.hpp"

namespace skerry::engine {

base::Result<core::RiskAssessment> SystemView::Assess(core::Language language, std::string_view code,
                                                      const std::stop_token& stop) const {
  return Allowed(kToRead, [&]() -> base::Result<core::RiskAssessment> {
    SKERRY_RETURN_IF_ERROR(core::Validate({.code = std::string(code), .language = language}));
    return gate().Assess(language, code, {.token = principal().id, .tenant = principal().tenant}, stop);
  });
}

base::Result<std::chrono::seconds> SystemView::AssessAgainIn() const {
  return Allowed(kToRead, [&]() -> base::Result<std::chrono::seconds> {
    const auto& analyses = gate().analyses();
    return analyses == nullptr ? std::chrono::seconds(1) : analyses->RetryAfter(principal().id);
  });
}

base::Result<std::vector<WarmSandboxes::KindStatistics>> SystemView::Pool() const {
  return Allowed(kToRead, [&]() -> base::Result<std::vector<WarmSandboxes::KindStatistics>> {
    if (manager().warm() == nullptr) return std::vector<WarmSandboxes::KindStatistics>();
    return manager().warm()->Statistics();
  });
}

// The newest run of a session that runs now.
std::string SystemView::WhatRuns(const std::string& session) const {
  const auto runs = host().ListRuns(principal(), {.session = session, .state = core::RunState::kRunning, .limit = 1});
  return runs && !runs->empty() ? runs->front()->record().what : "";
}

void SystemView::Show(const MonitorReading& reading, std::vector<ShownSandbox>& shown) const {
  if (reading.session.empty()) {
    if (const auto run = host().FindRun(principal(), reading.execution))
      shown.push_back({.session = "",
                       .execution = reading.execution,
                       .tenant = (*run)->record().tenant,
                       .state = "active",
                       .what = (*run)->record().what,
                       .reading = reading});
    return;
  }
  for (const auto& session : host().List(principal()))
    if (session->life().workspace() == reading.session)
      shown.push_back({.session = session->name(),
                       .execution = "",
                       .tenant = session->tenant(),
                       .state = std::string(NameOf(session->condition())),
                       .what = WhatRuns(session->id()),
                       .reading = reading});
}

base::Result<std::vector<ShownSandbox>> SystemView::Sandboxes(std::size_t most_samples) const {
  return Allowed(kToRead, [&]() -> base::Result<std::vector<ShownSandbox>> {
    std::vector<ShownSandbox> shown;
    for (const MonitorReading& reading : monitor().All(most_samples)) Show(reading, shown);
    return shown;
  });
}

base::Result<SessionMetrics> SystemView::Metrics(const SessionHandle& session,
                                                 std::optional<std::size_t> most_samples) const {
  return Allowed(kToRead, session, [&](HostedSession& hosted) -> base::Result<SessionMetrics> {
    const MonitorOptions& kept = monitor().options();
    SessionMetrics metrics{.interval = kept.interval};
    if (auto reading = monitor().Of(hosted.life().workspace(), most_samples.value_or(kept.history))) {
      metrics.has_sandbox = reading->present;
      metrics.alerts = std::move(reading->alerts);
      metrics.samples = std::move(reading->samples);
    }
    return metrics;
  });
}

base::Result<std::string> SystemView::Figures() const {
  return Allowed(kToMeasure, [&]() -> base::Result<std::string> { return chronicle().metrics().Exposition(); });
}

}  // namespace skerry::engine
