// SystemView: the daemon itself, for a principal: the risk of code, warm sandboxes, what sandboxes use.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "core/execution.hpp"
#include "core/risk.hpp"
#include "engine/monitor.hpp"
#include "engine/views/view.hpp"
#include "engine/warm_sandboxes.hpp"

namespace skerry::engine {

using UsageSample = watch::Sample;
using UsageAlert = watch::AlertKind;

// A sandbox, and whose it is.
struct ShownSandbox {
  std::string session;    // the session's name; "" for a run of its own
  std::string execution;  // of a run of its own
  std::string tenant;
  std::string state;
  std::string what;  // the beginning of what runs in the sandbox
  MonitorReading reading;
};

struct SessionMetrics {
  bool has_sandbox = false;
  std::chrono::milliseconds interval{0};  // between samples
  std::vector<UsageAlert> alerts;
  std::vector<UsageSample> samples;
};

class SystemView : public View {
 public:
  explicit SystemView(const Access& access) : View(access) {}

  // How risky this code is. kRateLimited when the token has asked for too much: see AssessAgainIn.
  [[nodiscard]] base::Result<core::RiskAssessment> Assess(core::Language language, std::string_view code,
                                                          const std::stop_token& stop) const;
  [[nodiscard]] base::Result<std::chrono::seconds> AssessAgainIn() const;

  // The warm sandboxes, by kind.
  [[nodiscard]] base::Result<std::vector<WarmSandboxes::KindStatistics>> Pool() const;
  // The sandboxes of the principal's sessions and runs, with the newest samples of each.
  [[nodiscard]] base::Result<std::vector<ShownSandbox>> Sandboxes(std::size_t most_samples) const;
  // All samples that are kept, where `most_samples` is not given.
  [[nodiscard]] base::Result<SessionMetrics> Metrics(const SessionHandle& session,
                                                     std::optional<std::size_t> most_samples) const;
  // The figures of the whole daemon, as Prometheus reads them.
  [[nodiscard]] base::Result<std::string> Figures() const;

 private:
  [[nodiscard]] std::string WhatRuns(const std::string& session) const;
  void Show(const MonitorReading& reading, std::vector<ShownSandbox>& shown) const;
};

}  // namespace skerry::engine
