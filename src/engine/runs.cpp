#include "engine/runs.hpp"

#include <unistd.h>

#include <algorithm>
#include <utility>

#include "base/ids.hpp"
#include "os/errno_error.hpp"

namespace skerry::engine {
namespace {

constexpr std::size_t kMostForList = 1000;  // characters of `what`

RunChannels ChannelsFor(RunOrder& order) {
  return {.input = {.text = std::move(order.given_input)},
          .fed = order.input == Input::kPipe ? RunControls::Input::kFed : RunControls::Input::kNone,
          .signals = order.record.kind == "command",
          .terminal = order.terminal};
}

// The size of the output, as far as the file has it.
std::uint64_t BytesIn(int directory, const std::string& id) {
  constexpr std::size_t kAtOnce = std::size_t{1} << 20U;
  auto reader = OutputLog::ReadFile(directory, id, 0);
  while (reader) {
    const auto pieces = reader->Next(kAtOnce);
    if (!pieces || pieces->empty()) return reader->offset();
  }
  return 0;
}

RunEnd LostEnd(const core::RunRecord& record, std::uint64_t output_bytes) {
  return {.state = core::RunState::kLost,
          .result = {.execution_id = record.id,
                     .outcome = {.kind = core::OutcomeKind::kLost,
                                 .exit_code = base::RowOf(base::Code::kInternal).exit_code,
                                 .reason = "the daemon was ended while this ran"},
                     .output_bytes = output_bytes}};
}

}  // namespace

base::Status Runs::CheckLimit(const RunOrder& order) const {
  if (order.most_of_tenant == 0) return {};
  const std::scoped_lock lock(mutex_);
  const auto of_tenant = std::ranges::count_if(
      under_way_, [&](const auto& entry) { return entry.second->record().tenant == order.record.tenant; });
  if (static_cast<std::uint64_t>(of_tenant) < order.most_of_tenant) return {};
  return base::Err(base::Code::kRateLimited,
                   "there are " + std::to_string(of_tenant) +
                       " runs at once, the most that this token may have; wait for one to end");
}

base::Result<Begun> Runs::Replay(const core::IdempotencyClaim& claim) const {
  SKERRY_ASSIGN_OR_RETURN(const auto known, store_.FindClaim(claim.tenant, claim.key));
  if (known.request_sha256 != claim.request_sha256)
    return base::Err(base::Code::kConflict, "this Idempotency-Key was used for another request");
  SKERRY_ASSIGN_OR_RETURN(auto run, Find(known.made));
  return Begun{std::move(run), true};
}

base::Result<Begun> Runs::Begin(RunOrder order) {
  core::RunRecord& record = order.record;
  record.id = base::RandomId("x");
  record.created_at = std::chrono::system_clock::now();
  record.state = core::RunState::kRunning;  // in the store: after a kill a waiting run is lost in the same way
  record.what.resize(std::min(record.what.size(), kMostForList));
  RunChannels channels = ChannelsFor(order);
  {
    // The limit, the row and the entry are one step: no thread sees one without the others.
    const std::scoped_lock begin(begin_mutex_);
    const auto limit = CheckLimit(order);
    const bool known = order.claim && store_.FindClaim(order.claim->tenant, order.claim->key).has_value();
    if (!known) {
      SKERRY_RETURN_IF_ERROR(limit);
      SKERRY_ASSIGN_OR_RETURN(record.sequence, store_.BeginRun(record, order.claim));
      record.state = core::RunState::kWaiting;
      outputs_.Begin(record, order.reach);
      OutputRoom room{
          .take = [&outputs = outputs_, id = record.id](std::uint64_t bytes) { return !outputs.Take(id, bytes); },
          .give_back = [&outputs = outputs_, id = record.id](std::uint64_t bytes) { outputs.GiveBack(id, bytes); }};
      auto run = std::make_shared<Run>(std::move(record), directory_, std::move(channels), std::move(room));
      const std::scoped_lock lock(mutex_);
      under_way_.emplace(run->id(), run);
      return Begun{std::move(run), false};
    }
  }
  return Replay(*order.claim);
}

std::uint64_t Runs::End(Run& run, RunEnd end) {
  const auto now = std::chrono::system_clock::now();
  const auto written = store_.EndRun(run.id(), end, now);
  {
    // Before the end is told: a client that learns of it may begin the next run.
    const std::scoped_lock lock(mutex_);
    ending_.emplace(run.id());
    const auto entry = under_way_.extract(run.id());
    // An end that cannot be written now is tried again, and the run is known until then.
    if (!written && entry && written.error().code == base::Code::kUnavailable) unwritten_[run.id()] = entry.mapped();
  }
  run.Finish(std::move(end), now);
  outputs_.End(run.id());
  const std::scoped_lock lock(mutex_);
  ending_.erase(run.id());
  left_.notify_all();
  return written.value_or(0);
}

std::shared_ptr<Run> Runs::FromRecord(core::RunRecord record) const {
  return std::make_shared<Run>(std::move(record), directory_);
}

std::shared_ptr<Run> Runs::UnderWay(const std::string& id) const {
  const std::scoped_lock lock(mutex_);
  for (const auto* table : {&under_way_, &unwritten_})
    if (const auto found = table->find(id); found != table->end()) return found->second;
  return nullptr;
}

void Runs::WriteAgain() {
  std::map<std::string, std::shared_ptr<Run>> left;
  {
    const std::scoped_lock lock(mutex_);
    left = unwritten_;
  }
  for (const auto& [id, run] : left) {
    const auto end = run->end();
    if (!end) continue;
    const auto written = store_.EndRun(id, *end, run->ended_at().value_or(core::TimePoint{}));
    if (!written && written.error().code == base::Code::kUnavailable) return;
    const std::scoped_lock lock(mutex_);
    unwritten_.erase(id);
  }
}

base::Result<std::shared_ptr<Run>> Runs::Find(const std::string& id) const {
  if (auto run = UnderWay(id)) return run;
  SKERRY_ASSIGN_OR_RETURN(core::RunRecord record, store_.FindRun(id));
  if (core::IsFinal(record.state)) return FromRecord(std::move(record));
  // The run began, or ended, between the two lookups.
  {
    const std::scoped_lock begin(begin_mutex_);
    if (auto run = UnderWay(id)) return run;
  }
  SKERRY_ASSIGN_OR_RETURN(record, store_.FindRun(id));
  return FromRecord(std::move(record));
}

base::Result<std::vector<std::shared_ptr<Run>>> Runs::List(core::RunFilter filter) const {
  const auto wanted = filter.state;
  if (wanted == core::RunState::kWaiting) filter.state = core::RunState::kRunning;
  std::vector<std::shared_ptr<Run>> runs;
  // The store does not tell waiting runs from those that have just ended: the list goes on until it is full.
  for (;;) {
    SKERRY_ASSIGN_OR_RETURN(auto records, store_.Runs(filter));
    for (core::RunRecord& record : records) {
      filter.before = record.sequence;
      auto run = core::IsFinal(record.state) ? FromRecord(std::move(record)) : Find(record.id).value_or(nullptr);
      if (run != nullptr && (!wanted || run->state() == *wanted)) runs.push_back(std::move(run));
      if (runs.size() == filter.limit) return runs;
    }
    if (records.size() < filter.limit) return runs;
  }
}

std::vector<std::shared_ptr<Run>> Runs::UnderWay() const {
  std::vector<std::shared_ptr<Run>> runs;
  const std::scoped_lock lock(mutex_);
  runs.reserve(under_way_.size());
  for (const auto& [id, run] : under_way_) runs.push_back(run);
  return runs;
}

std::size_t Runs::CountOf(const std::string& session) const {
  const std::scoped_lock lock(mutex_);
  return static_cast<std::size_t>(
      std::ranges::count_if(under_way_, [&](const auto& entry) { return entry.second->record().session == session; }));
}

std::size_t Runs::Count() const {
  const std::scoped_lock lock(mutex_);
  return under_way_.size();
}

bool Runs::Stop(const std::optional<std::string>& session, base::Deadline deadline) {
  const auto concerned = [&](const Run& run) { return !session || run.record().session == *session; };
  std::unique_lock lock(mutex_);
  const auto none = [&] {
    return ending_.empty() &&
           std::ranges::none_of(under_way_, [&](const auto& entry) { return concerned(*entry.second); });
  };
  std::vector<std::shared_ptr<Run>> all;
  for (const auto& [id, run] : under_way_)
    if (concerned(*run)) all.push_back(run);
  lock.unlock();
  for (const auto& run : all) run->Cancel();
  lock.lock();
  return left_.wait_for(lock, deadline.Remaining(), none);
}

base::Result<std::vector<core::RunRecord>> Runs::MarkLost() {
  SKERRY_ASSIGN_OR_RETURN(auto unfinished, store_.UnfinishedRuns());
  for (const core::RunRecord& record : unfinished) {
    const RunEnd end = LostEnd(record, BytesIn(directory_, record.id));
    SKERRY_RETURN_IF_ERROR(store_.EndRun(record.id, end, std::chrono::system_clock::now()));
  }
  return unfinished;
}

base::Status Runs::Forget(std::chrono::seconds keep_for, std::size_t keep) {
  constexpr std::size_t kAtOnce = 1000;
  for (;;) {
    SKERRY_ASSIGN_OR_RETURN(const auto ids,
                            store_.ForgetRuns(std::chrono::system_clock::now() - keep_for, keep, kAtOnce));
    for (const std::string& id : ids) outputs_.Remove(id);
    if (ids.size() < kAtOnce) return {};
  }
}

base::Status Runs::ForgetOutputs(const std::string& session) {
  core::RunFilter filter{.session = session, .limit = 1000};
  for (;;) {
    SKERRY_ASSIGN_OR_RETURN(const auto records, store_.Runs(filter));
    if (records.empty()) return {};
    for (const core::RunRecord& record : records) outputs_.Remove(record.id);
    filter.before = records.back().sequence;
  }
}

}  // namespace skerry::engine
