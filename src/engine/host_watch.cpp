// What a Host reports: events, metrics and audit.
#include <fcntl.h>

#include <algorithm>
#include <utility>

#include "base/sha256.hpp"
#include "engine/host.hpp"
#include "os/errno_error.hpp"
#include "os/files.hpp"

namespace skerry::engine {
namespace {

using Kind = watch::Sampled::Kind;

constexpr std::string_view kConfigurationFile = "configuration.sha256";  // digest of the one that was recorded last

watch::Sampled One(std::string name, std::string help, Kind kind, double value) {
  return {std::move(name), std::move(help), kind, {{{}, value}}};
}

std::vector<watch::Sampled> FiguresOf(const MonitorTotals& totals) {
  return {
      One("skerry_sandboxes", "Sandboxes that programs run in.", Kind::kGauge, static_cast<double>(totals.sandboxes)),
      One("skerry_sandbox_memory_bytes", "Memory of all sandboxes.", Kind::kGauge,
          static_cast<double>(totals.memory_bytes)),
      One("skerry_sandbox_pids", "Processes and threads in all sandboxes.", Kind::kGauge,
          static_cast<double>(totals.pids)),
      One("skerry_sandbox_cpu_seconds_total", "Processor time of all sandboxes there ever were.", Kind::kCounter,
          totals.cpu_seconds),
      One("skerry_egress_received_bytes_total", "Bytes that sandboxes got from networks.", Kind::kCounter,
          static_cast<double>(totals.received_bytes)),
      One("skerry_egress_sent_bytes_total", "Bytes that sandboxes sent to networks.", Kind::kCounter,
          static_cast<double>(totals.sent_bytes)),
      One("skerry_monitor_samples_total", "Looks at what sandboxes use.", Kind::kCounter,
          static_cast<double>(totals.samples)),
      One("skerry_monitor_cpu_seconds_total", "Processor time that those looks took.", Kind::kCounter,
          std::chrono::duration<double>(totals.own_time).count())};
}

std::vector<watch::Sampled> FiguresOf(const WarmSandboxes& warm) {
  watch::Sampled idle{"skerry_pool_idle", "Sandboxes that wait, by kind.", Kind::kGauge, {}};
  watch::Sampled busy{"skerry_pool_busy", "Sandboxes of the pool that are in use, by kind.", Kind::kGauge, {}};
  watch::Sampled hits{"skerry_pool_hits_total", "Runs that found one waiting.", Kind::kCounter, {}};
  watch::Sampled misses{"skerry_pool_misses_total", "Runs that found none.", Kind::kCounter, {}};
  watch::Sampled failures{"skerry_pool_failures_total", "Sandboxes that could not be made.", Kind::kCounter, {}};
  for (const auto& [kind, pool] : warm.Statistics()) {
    const watch::Labels labels = {{"kind", std::string(core::NameOf(kind))}};
    idle.values.emplace_back(labels, static_cast<double>(pool.idle));
    busy.values.emplace_back(labels, static_cast<double>(pool.busy));
    hits.values.emplace_back(labels, static_cast<double>(pool.warm_hits));
    misses.values.emplace_back(labels, static_cast<double>(pool.misses));
    failures.values.emplace_back(labels, static_cast<double>(pool.failures));
  }
  return {idle, busy, hits, misses, failures};
}

}  // namespace

void Host::OfferFigures() {
  watch::Metrics& metrics = chronicle_->metrics();
  metrics.Sample([this] { return FiguresOf(monitor_->Totals()); });
  metrics.Sample(
      [this] { return manager_.warm() == nullptr ? std::vector<watch::Sampled>{} : FiguresOf(*manager_.warm()); });
  metrics.Sample([this] {
    const watch::EventLog& events = chronicle_->events();
    std::map<std::string, double> by_state;
    for (const auto& session : All()) by_state[std::string(engine::NameOf(session->condition()))] += 1;
    watch::Sampled sessions{"skerry_sessions", "Sessions, by their state.", Kind::kGauge, {}};
    for (const Condition condition : {Condition::kActive, Condition::kIdle, Condition::kPaused, Condition::kCrashed}) {
      const std::string name(engine::NameOf(condition));
      sessions.values.push_back({{{"state", name}}, by_state[name]});
    }
    return std::vector<watch::Sampled>{
        sessions,
        One("skerry_output_bytes", "Output of runs that is kept.", Kind::kGauge,
            static_cast<double>(outputs_->budget().used())),
        One("skerry_output_removed_total", "Outputs that went to make room for newer.", Kind::kCounter,
            static_cast<double>(outputs_->evicted())),
        One("skerry_spool_bytes", "Uploads and answers on their way.", Kind::kGauge,
            static_cast<double>(spool_->used())),
        One("skerry_runs_running", "Runs that have not ended.", Kind::kGauge, static_cast<double>(runs_->Count())),
        One("skerry_approvals_waiting", "Questions that wait for a person.", Kind::kGauge,
            static_cast<double>(approvals_.List().size())),
        One("skerry_event_readers", "Who follows the events.", Kind::kGauge, static_cast<double>(events.readers())),
        One("skerry_event_readers_dropped_total", "Readers of events that were too slow.", Kind::kCounter,
            static_cast<double>(events.dropped()))};
  });
}

// The last recorded configuration is remembered by its digest.
base::Status Host::NoteConfiguration() {
  if (options_.configuration.empty()) return {};
  const std::string now = base::Sha256Hex(options_.configuration);
  const std::string path = options_.state_directory + "/" + std::string(kConfigurationFile);
  constexpr std::size_t kDigits = 64;
  if (os::ReadFile(path, kDigits).value_or("") == now) return {};
  SKERRY_RETURN_IF_ERROR(chronicle_->Configured(options_.configuration));
  const base::UniqueFd file(::openat(directory_.get(), std::string(kConfigurationFile).c_str(),
                                     O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, S_IRUSR | S_IWUSR));
  const base::Status written = file.valid() ? os::WriteAll(file.get(), now) : os::ErrnoErr("open");
  if (!written) Warn(path + ": " + written.error().message);
  return {};
}

void Host::NoteFiles(const std::string& workspace, const std::string& execution,
                     const std::vector<core::FileChange>& changes) {
  const auto sessions = ThoseAt(workspace);
  std::uint64_t bytes = 0;
  for (const core::FileChange& change : changes) bytes += core::WeightOf(change);
  if (const std::uint64_t most = options_.recorder.most_of_execution; most != 0) bytes = std::min(bytes, most);
  if (!sessions.empty()) keeper_->Add(sessions.front()->tenant(), bytes);
  for (const auto& session : sessions) chronicle_->FilesChanged(session->name(), session->tenant(), execution, changes);
}

void Host::NoteAlert(const std::string& workspace, const std::string& execution, const watch::AlertChange& change) {
  if (!workspace.empty()) {
    for (const auto& session : ThoseAt(workspace)) chronicle_->Alert(session->name(), session->tenant(), "", change);
    return;
  }
  const auto run = runs_->Find(execution);
  chronicle_->Alert("", run ? (*run)->record().tenant : "", execution, change);
}

// The audit gets the hash of all input when a run ends. Large input is recorded before, as a daemon may be killed;
// never a few bytes, which could be guessed from the hashes before and after them.
void Host::NoteInputs() {
  constexpr std::uint64_t kMuch = std::uint64_t{64} << 10U;
  for (const auto& run : runs_->UnderWay())
    if (const auto input = run->TakeFed(kMuch)) chronicle_->RunFed(*run, *input);
}

}  // namespace skerry::engine
