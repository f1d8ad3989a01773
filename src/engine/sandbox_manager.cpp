#include "engine/sandbox_manager.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <utility>

#include "engine/context_manager.hpp"
#include "engine/named_files.hpp"
#include "engine/run_assessment.hpp"
#include "engine/run_conditions.hpp"
#include "engine/sandbox_making.hpp"
#include "engine/secret_mask.hpp"
#include "engine/tree_look.hpp"
#include "policy/local_guard.hpp"

namespace skerry::engine {
namespace {

class CollectingSink : public core::OutputSink {
 public:
  explicit CollectingSink(core::ExecutionResult& result) : result_(result) {}
  core::SinkAnswer Write(core::Stream stream, std::string_view bytes, base::Deadline) override {
    (stream == core::Stream::kStdout ? result_.standard_output : result_.standard_error).append(bytes);
    return {.accepted = bytes.size()};
  }

 private:
  core::ExecutionResult& result_;
};

// Where the output of a run goes: to its sink, or into its result; without the values of secrets.
class RunOutput {
 public:
  RunOutput(core::OutputSink* sink, core::ExecutionResult& result, std::vector<std::string> secrets)
      : collecting_(result),
        sink_(sink != nullptr ? *sink : collecting_),
        mask_(std::move(secrets)),
        masking_(sink_, mask_) {}

  [[nodiscard]] const SecretMask& mask() const { return mask_; }
  [[nodiscard]] core::OutputSink& sink() { return mask_.IsEmpty() ? sink_ : masking_; }
  void Finish() {
    if (!mask_.IsEmpty()) masking_.Finish(base::Deadline::After(kLastWords));
  }

 private:
  static constexpr std::chrono::seconds kLastWords{10};

  CollectingSink collecting_;
  core::OutputSink& sink_;
  SecretMask mask_;
  MaskingSink masking_;
};

// Tells the time between two calls.
class Stopwatch {
 public:
  std::chrono::nanoseconds Lap() {
    const auto now = std::chrono::steady_clock::now();
    return now - std::exchange(last_, now);
  }

 private:
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

// The workspace as the program would find it now: other programs may have changed files since the last commit, and a
// lost sandbox may have been replaced. Not valid where the program would find none.
base::UniqueFd FilesFor(const RunWorkspace& workspace, LiveSandbox* live) {
  if (live != nullptr) return FilesOf(*live);
  const int directory = workspace.directory();
  return base::UniqueFd(directory >= 0 ? ::fcntl(directory, F_DUPFD_CLOEXEC, 0) : -1);
}

bool AsksForDirectory(const core::ExecutionRequest& request) {
  constexpr std::string_view kBlank = " \t\r\n";
  const std::string_view code = request.code;
  const std::size_t begin = code.find_first_not_of(kBlank);
  return request.language == core::Language::kShell && begin != std::string_view::npos &&
         code.substr(begin, code.find_last_not_of(kBlank) + 1 - begin) == "pwd";
}

// S4.5: programs must not learn where the workspace lies on the host.
core::ExecutionResult AnswerDirectory(core::OutputSink* sink, std::string_view backend) {
  constexpr std::string_view kAnswer = "/workspace\n";
  core::ExecutionResult result{.sandbox_type = std::string(backend)};
  if (sink != nullptr) {
    (void)sink->Write(core::Stream::kStdout, kAnswer, base::Deadline::After(std::chrono::seconds(10)));
  } else {
    result.standard_output = kAnswer;
  }
  result.output_bytes = kAnswer.size();
  return result;
}

}  // namespace

std::vector<std::string> SandboxManager::SweepOrphans(std::chrono::seconds patience_each) const {
  std::vector<std::string> problems;
  for (core::Backend* backend : registry_.All())
    if (const auto swept = backend->SweepOrphans(base::Deadline::After(patience_each)); !swept)
      problems.push_back("backend " + std::string(backend->Name()) +
                         ": what was left of an earlier daemon could not be removed: " + swept.error().message);
  return problems;
}

struct SandboxManager::Run {
  const core::ExecutionRequest& request;
  const RunStreams& streams;
  const RunOccasion& occasion;
  RunWorkspace& workspace;
  std::string_view backend;
  core::Abilities abilities;
  LiveSandbox* live = nullptr;           // where the program runs; nullptr for a sandbox of its own
  std::optional<NamedFilesFound> named;  // as of the last look
  core::Reach ends = core::Reach::kSandbox;
  bool launched = false;  // the program may have begun
  ResolvedEnvironment environment = {};

  [[nodiscard]] bool IsCell() const { return !request.context.empty(); }
  [[nodiscard]] base::UniqueFd Files() const { return FilesFor(workspace, live); }
  [[nodiscard]] TreeLook LookAround(const std::stop_token& stop) const {
    if (live != nullptr) return engine::LookAround(*live, stop);
    // Everything else that the program can write to is empty when its sandbox begins.
    const base::UniqueFd files = Files();
    const std::array trees = {Tree{"workspace", files.get()}};
    return LookAtTrees(trees, {}, stop);
  }
};

base::Result<ResolvedEnvironment> SandboxManager::Resolved(const Environment& environment,
                                                           const std::set<std::string>& secret,
                                                           const std::string& tenant) const {
  return Resolve(environment, secret, options_.secrets, tenant);
}

base::Status SandboxManager::Check(const Run& run) const {
  return choice_.Check(run.request, run.streams, run.workspace, run.backend, run.abilities);
}

base::Result<std::optional<SandboxManager::Assessed>> SandboxManager::Assess(const core::ExecutionRequest& request,
                                                                             const RunStreams& streams,
                                                                             const RunOccasion& occasion, int files,
                                                                             const std::stop_token& stop) const {
  Stopwatch watch;
  const std::string before = request.context.empty() ? "" : occasion.contexts->BeforeOf(request.context);
  auto risk = AssessRun(gate_,
                        {.language = request.language,
                         .code = request.code,
                         .before = before,
                         .directory = request.directory,
                         .environment = request.environment,
                         .workspace = files,
                         .bytecode = occasion.session != nullptr ? Bytecode::kOfSession : Bytecode::kOfPerson,
                         .input = streams.input,
                         .has_terminal = streams.terminal.has_value()},
                        {.token = occasion.asker.token, .tenant = occasion.asker.tenant}, stop);
  if (!risk && stop.stop_requested()) return std::nullopt;
  if (!risk) return std::unexpected(std::move(risk).error());
  Assessed assessed{.risk = *std::move(risk)};
  assessed.took = watch.Lap();
  return assessed;
}

Watched::Registration SandboxManager::Watch(core::Sandbox& sandbox, std::string session, const Asker& asker) {
  return watched_.Enter({.tenant = asker.tenant,
                         .session = std::move(session),
                         .execution = asker.execution,
                         .since = std::chrono::system_clock::now(),
                         .sandbox = &sandbox});
}

SandboxManager::SandboxManager(const core::BackendRegistry& registry, ManagerOptions options)
    : registry_(registry), options_(std::move(options)), choice_(registry_, options_), gate_(options_.gate) {
  if (!options_.pool) return;
  const auto backend = Choose(std::string(core::kAutoSandbox));
  if (!backend || !(*backend)->Can().preload) return;
  warm_backend_ = *backend;
  core::SandboxSpec spec{.limits = options_.limits};
  spec.demand = DemandOf(options_.mode);
  warm_ = std::make_unique<WarmSandboxes>(**backend, std::move(spec), *options_.pool);
}

base::Result<core::ExecutionResult> SandboxManager::RunIn(core::Sandbox& sandbox, Run& run,
                                                          std::stop_token stop) const {
  SKERRY_RETURN_IF_ERROR(run.workspace.Begin(sandbox, run.abilities, base::Deadline::After(kFilesPatience), stop));
  core::ExecutionResult result;
  RunOutput output(run.streams.sink, result, run.environment.secrets);
  const auto start = std::chrono::steady_clock::now();
  run.launched = true;
  const auto process =
      sandbox.Launch(CommandFor(run.request, run.environment.values, run.streams, run.ends), output.sink(), stop);
  const auto awaited = [&]() -> base::Result<core::CommandResult> {
    if (!process) return core::ResultOfLaunch(process.error(), run.request.timeout, stop);
    if (run.streams.controls == nullptr) return (*process)->Await(stop);
    const auto attached = run.streams.controls->Attach(**process);
    return (*process)->Await(stop);
  }();
  output.Finish();
  if (!awaited) return std::unexpected(awaited.error());
  const core::CommandResult& ended = *awaited;
  result.timings.run = std::chrono::steady_clock::now() - start;
  result.execution_time = std::chrono::duration_cast<std::chrono::milliseconds>(result.timings.run);
  result.outcome = ended.outcome;
  result.start = ended.start;
  result.output_truncated = ended.output_truncated;
  result.output_bytes = ended.output_bytes;
  result.memory_peak_bytes = ended.memory_peak_bytes;
  result.limits_reached = ended.limits_reached;
  result.sandbox_type = run.backend;
  result.degraded = sandbox.Degraded();
  if (options_.sandboxing == Sandboxing::kDisabled)
    result.degraded.emplace_back("sandboxing is disabled by the configuration: only the local guard was asked");
  const auto& notes = run.workspace.rules().notes();
  result.degraded.insert(result.degraded.end(), notes.begin(), notes.end());
  return result;
}

// A cell depends on the cells before it in its context. A context with files of its own serves one person alone.
std::optional<std::uint64_t> SandboxManager::CellsBefore(const Run& run) {
  if (!run.IsCell() || run.live == nullptr) return std::nullopt;
  const auto context = run.occasion.contexts->Find(run.request.context);
  return context ? context->cells : 0;
}

base::Result<Admission> SandboxManager::Admit(const core::RiskAssessment& risk, Run& run,
                                              const std::stop_token& stop) const {
  if (options_.sandboxing == Sandboxing::kDisabled)
    if (const std::string reason = policy::BlockedLocally(risk); !reason.empty())
      return Admission{.refused = Rejected("blocked by the local guard, since sandboxing is disabled: " + reason)};
  const core::ExecutionRequest& request = run.request;
  const auto look = [&](Sight sight, const std::stop_token& token) {
    const base::UniqueFd files = run.Files();
    const RunConditions conditions{.request = request,
                                   .backend = run.backend,
                                   .strength = run.abilities.strength,
                                   .workspace = run.workspace,
                                   .files = files.get(),
                                   .options = options_,
                                   .input = run.streams.input,
                                   .execution = run.occasion.asker.execution,
                                   .cells = CellsBefore(run)};
    run.named = FilesNamedBy(conditions, token);
    // In a person's directory only the person's own programs change files meanwhile.
    const bool whole = sight == Sight::kWhole && run.occasion.session != nullptr;
    return LookAt(conditions, *run.named, whole ? run.LookAround(token) : TreeLook());
  };
  const Proposal proposal{.session = request.session_id.value_or(""),
                          .language = request.language,
                          .code = request.code,
                          .look = look,
                          .asker = run.occasion.asker};
  return gate_.Admit(risk, proposal, stop);
}

void SandboxManager::NoteUses(Run& run, const std::stop_token& stop) const {
  constexpr std::uint64_t kMost = std::uint64_t{256} << 20U;
  if (run.occasion.session == nullptr) return;
  if (!run.named) {
    const auto turn = gate_.TakeLookTurn(run.occasion.asker.tenant, stop);
    if (!turn) return;
    const base::UniqueFd files = run.Files();
    run.named = NamedFiles({.language = run.request.language,
                            .texts = {run.request.code},
                            .directory = run.request.directory,
                            .max_bytes = kMost},
                           files.get(), stop);
  }
  for (const auto& [path, hash] : run.named->files)
    run.occasion.session->uses.push_back({.path = path, .how = core::FileUse::How::kNamed, .sha256 = hash});
}

base::Result<core::ExecutionResult> SandboxManager::Execute(const core::ExecutionRequest& request,
                                                            const RunStreams& streams, const RunOccasion& occasion,
                                                            const std::stop_token& stop) {
  SKERRY_RETURN_IF_ERROR(core::Validate(request));
  SKERRY_ASSIGN_OR_RETURN(RunWorkspace workspace, RunWorkspace::Open(request, occasion.session, options_.filesystem));
  SKERRY_ASSIGN_OR_RETURN(const std::optional<Assessed> assessed,
                          Assess(request, streams, occasion, workspace.directory(), stop));
  if (!assessed) return core::ExecutionResult{.outcome = Cancelled()};
  SKERRY_ASSIGN_OR_RETURN(core::Backend * backend, choice_.For(request, streams, occasion, assessed->risk));
  return AdmitAndRun({request, streams, occasion, workspace, backend->Name(), backend->Can()}, *assessed, stop,
                     [&](Run& run, std::stop_token token) { return RunAdmitted(*backend, run, std::move(token)); });
}

base::Result<core::ExecutionResult> SandboxManager::ExecuteCell(const core::ExecutionRequest& request,
                                                                const RunStreams& streams, const RunOccasion& occasion,
                                                                const std::stop_token& stop) {
  SKERRY_RETURN_IF_ERROR(core::Validate(request));
  SKERRY_ASSIGN_OR_RETURN(RunWorkspace workspace, RunWorkspace::Open(request, nullptr, options_.filesystem));
  SKERRY_ASSIGN_OR_RETURN(const std::optional<Assessed> assessed, Assess(request, streams, occasion, -1, stop));
  if (!assessed) return core::ExecutionResult{.outcome = Cancelled()};
  SKERRY_ASSIGN_OR_RETURN(const core::Backend* backend, Choose(std::string(core::kAutoSandbox)));
  return AdmitAndRun({request, streams, occasion, workspace, backend->Name(), backend->Can()}, *assessed, stop,
                     [&](Run& run, std::stop_token token) { return RunCell(run, std::move(token)); });
}

template <class RunIt>
base::Result<core::ExecutionResult> SandboxManager::AdmitAndRun(Run run, const Assessed& assessed,
                                                                const std::stop_token& stop, const RunIt& run_it) {
  Admission admission;
  auto result = [&]() -> base::Result<core::ExecutionResult> {
    SKERRY_ASSIGN_OR_RETURN(run.environment,
                            Resolved(run.request.environment, run.request.secrets, run.occasion.asker.tenant));
    SKERRY_ASSIGN_OR_RETURN(admission, Admit(assessed.risk, run, stop));
    if (admission.refused) return core::ExecutionResult{.outcome = *admission.refused};
    if (run.occasion.admitted) run.occasion.admitted();
    NoteUses(run, stop);
    return run_it(run, stop);
  }();
  // The caller asked to stop before the program began: whichever step broke off, that is why.
  if (!result && !run.launched && stop.stop_requested()) result = core::ExecutionResult{.outcome = core::EndedByStop()};
  if (!result) return result;
  result->risk = assessed.risk.Summary();
  result->timings.policy = assessed.took;
  result->timings.approval = admission.waited;
  result->approved_by = std::move(admission.approved_by);
  result->digest = std::move(admission.digest);
  return result;
}

base::Result<std::unique_ptr<LiveSandbox>> SandboxManager::StartLive(const core::ExecutionRequest& request,
                                                                     SessionRun& session,
                                                                     const core::SandboxLimits& limits,
                                                                     const std::string& tenant, base::Deadline deadline,
                                                                     const std::stop_token& stop) {
  SKERRY_ASSIGN_OR_RETURN(const RunWorkspace workspace, RunWorkspace::Open(request, &session, options_.filesystem));
  auto live = std::make_unique<LiveSandbox>();
  SKERRY_ASSIGN_OR_RETURN(live->backend, Choose(request.sandbox_type));
  live->abilities = live->backend->Can();
  live->directory = session.directory.root();
  SKERRY_ASSIGN_OR_RETURN(core::SandboxSpec spec, SpecFor(request, workspace, options_, *live->backend));
  const std::uint64_t disk_mb = spec.limits.disk_mb;
  spec.limits = limits;
  spec.limits.disk_mb = std::min(disk_mb, limits.disk_mb);
  SKERRY_ASSIGN_OR_RETURN(live->sandbox, live->backend->Create(spec));
  SKERRY_RETURN_IF_ERROR(live->sandbox->Start(deadline, stop));
  if (workspace.IsCopiedFor(live->abilities)) {
    live->mirror =
        std::make_unique<WorkspaceMirror>(session.directory.root(), live->sandbox->files(), session.directory.stage());
    SKERRY_RETURN_IF_ERROR(live->mirror->Push(deadline, stop));
  } else if (const auto view = live->sandbox->files().Local(); !view || !view->layered) {
    return base::Err(base::Code::kUnavailable,
                     "the " + std::string(live->backend->Name()) +
                         " sandbox cannot keep changes apart here, so no process can live on in it");
  }
  NoticeNewLayer(*live);
  live->watched = Watch(*live->sandbox, session.directory.id(), {.tenant = tenant});
  return live;
}

base::Result<core::ExecutionResult> SandboxManager::ExecuteLive(LiveSandbox& live,
                                                                const core::ExecutionRequest& request,
                                                                const RunStreams& streams, const RunOccasion& occasion,
                                                                const std::stop_token& stop) {
  SKERRY_RETURN_IF_ERROR(core::Validate(request));
  SKERRY_ASSIGN_OR_RETURN(RunWorkspace workspace, RunWorkspace::Open(request, occasion.session, options_.filesystem));
  const base::UniqueFd files = FilesOf(live);
  SKERRY_ASSIGN_OR_RETURN(const std::optional<Assessed> assessed,
                          Assess(request, streams, occasion, files.get(), stop));
  if (!assessed) return core::ExecutionResult{.outcome = Cancelled()};
  return AdmitAndRun({request, streams, occasion, workspace, live.backend->Name(), live.abilities, &live}, *assessed,
                     stop, [&](Run& run, const std::stop_token& token) { return RunInLive(live, run, token); });
}

base::Result<core::ExecutionResult> SandboxManager::RunInLive(LiveSandbox& live, Run& run,
                                                              const std::stop_token& stop) const {
  run.ends = core::Reach::kCommand;
  SKERRY_RETURN_IF_ERROR(Check(run));
  if (!live.sandbox->IsRunning()) {
    // The sandbox was lost while it was not in use.
    const std::scoped_lock lock(live.order);
    SKERRY_RETURN_IF_ERROR(Revive(live, base::Deadline::After(kMakingPatience), stop));
  }
  if (live.mirror) {
    const std::scoped_lock lock(live.order);
    SKERRY_RETURN_IF_ERROR(live.mirror->Push(base::Deadline::After(kFilesPatience), stop));
  }
  SKERRY_ASSIGN_OR_RETURN(core::ExecutionResult result,
                          run.IsCell() ? RunCell(run, stop) : RunIn(*live.sandbox, run, stop));
  Stopwatch watch;
  const std::scoped_lock lock(live.order);
  const auto committed = Standing(
      live, [&] { return run.workspace.Finish(*live.sandbox, result, base::Deadline::After(kFilesPatience)); });
  if (!committed && !live.mirror) return std::unexpected(committed.error());
  const bool lost = !live.sandbox->IsRunning();
  if (!committed)
    result.degraded.push_back(lost ? kLostFiles
                                   : "workspace: its changes could not be read, and are after the next command: " +
                                         committed.error().message);
  result.timings.finish = watch.Lap();
  result.degraded.insert(result.degraded.end(), live.degraded.begin(), live.degraded.end());
  // The sandbox is lost with all its processes. The next command finds another one on the same files; it makes that
  // itself when the caller of this one does not wait for it.
  if (!lost) return result;
  const auto revived = Revive(live, base::Deadline::After(kMakingPatience), stop);
  if (!revived && !stop.stop_requested()) return std::unexpected(revived.error());
  return result;
}

// The context is a process that waits for its next cell, in the live sandbox or in a sandbox of its own.
base::Result<core::ExecutionResult> SandboxManager::RunCell(Run& run, std::stop_token stop) {
  const core::ExecutionRequest& request = run.request;
  core::ExecutionResult result;
  std::vector<std::string> secrets = run.environment.secrets;
  secrets.insert(secrets.end(), run.occasion.secrets.begin(), run.occasion.secrets.end());
  RunOutput output(run.streams.sink, result, std::move(secrets));
  Stopwatch watch;
  run.launched = true;
  SKERRY_ASSIGN_OR_RETURN(CellRun ran, run.occasion.contexts->Run(request.context, request.language,
                                                                  {.text = request.code,
                                                                   .environment = run.environment.values,
                                                                   .timeout = request.timeout,
                                                                   .max_output_bytes = request.max_output_mb << 20U},
                                                                  output.sink(), std::move(stop)));
  output.Finish();
  output.mask().Mask(ran.result.outputs);
  if (ran.result.error) output.mask().Mask(*ran.result.error);
  result.timings.run = watch.Lap();
  result.execution_time = std::chrono::duration_cast<std::chrono::milliseconds>(result.timings.run);
  result.outcome = std::move(ran.result.outcome);
  result.output_truncated = ran.result.output_truncated;
  result.output_bytes = ran.result.output_bytes;
  result.start = ran.context.start;
  result.sandbox_type = run.backend;
  result.degraded = std::move(ran.context.degraded);
  result.cell = core::CellDetails{.context = request.context,
                                  .language = request.language,
                                  .number = ran.context.cells,
                                  .outputs = std::move(ran.result.outputs),
                                  .error = std::move(ran.result.error),
                                  .alive = ran.result.alive};
  return result;
}

base::Status SandboxManager::CommitLive(LiveSandbox& live, SessionRun& session) const {
  SKERRY_ASSIGN_OR_RETURN(RunWorkspace workspace, RunWorkspace::Open({}, &session, options_.filesystem));
  core::ExecutionResult result;
  const std::scoped_lock lock(live.order);
  return Standing(live, [&] { return workspace.Finish(*live.sandbox, result, base::Deadline::After(kFilesPatience)); });
}

base::Status SandboxManager::StopLive(LiveSandbox& live, SessionRun& session) const {
  const auto stop = [&] { return live.sandbox->Stop(base::Deadline::After(kStopPatience)); };
  if (live.abilities.workspace != core::WorkspaceKind::kRemote) {
    SKERRY_RETURN_IF_ERROR(stop());
    return CommitLive(live, session);
  }
  const auto committed = live.sandbox->IsRunning() ? CommitLive(live, session) : base::Status{};
  const bool lost = !live.sandbox->IsRunning();
  const auto stopped = stop();
  if (!committed && !lost) return committed;
  return lost ? base::Status{} : stopped;
}

base::Result<core::ExecutionResult> SandboxManager::RunAdmitted(core::Backend& backend, Run& run,
                                                                std::stop_token stop) {
  const core::ExecutionRequest& request = run.request;
  SKERRY_RETURN_IF_ERROR(Check(run));
  // Programs that see the host's paths must not learn that of the workspace.
  if (run.abilities.strength < core::Strength::kNamespaces && AsksForDirectory(request))
    return AnswerDirectory(run.streams.sink, backend.Name());
  SKERRY_ASSIGN_OR_RETURN(core::SandboxSpec spec, SpecFor(request, run.workspace, options_, backend));
  Stopwatch watch;
  if (warm_ != nullptr && &backend == warm_backend_ && warm_->Fits(spec))
    if (auto lease = warm_->Take(PreloadFor({request.language, request.code})))
      return RunWarm(std::move(*lease), watch.Lap(), run, std::move(stop));
  return RunInOwn(backend, std::move(spec), run, std::move(stop));
}

base::Result<core::ExecutionResult> SandboxManager::RunWarm(WarmSandboxes::Lease lease, std::chrono::nanoseconds obtain,
                                                            Run& run, std::stop_token stop) {
  auto watched = Watch(*lease, "", run.occasion.asker);
  SKERRY_ASSIGN_OR_RETURN(core::ExecutionResult result, RunIn(*lease, run, std::move(stop)));
  Stopwatch watch;
  SKERRY_RETURN_IF_ERROR(FinishWarm(*lease, run.workspace, result));
  watched = {};  // before the sandbox is destroyed, in whatever thread
  lease.Discard();
  result.timings.obtain = obtain;
  result.timings.finish = watch.Lap();
  return result;
}

base::Result<core::ExecutionResult> SandboxManager::RunInOwn(core::Backend& backend, core::SandboxSpec spec, Run& run,
                                                             std::stop_token stop) {
  const RunWorkspace& workspace = run.workspace;
  const bool dry = run.request.carry == core::Carry::kShow;
  Stopwatch watch;
  SKERRY_ASSIGN_OR_RETURN(
      const Started started,
      StartSandbox(backend, std::move(spec), dry ? policy::SecurityMode::kStrict : options_.mode, stop));
  const auto obtain = watch.Lap();
  const auto watched =
      Watch(*started.sandbox, workspace.session() ? workspace.session()->directory.id() : "", run.occasion.asker);
  SKERRY_ASSIGN_OR_RETURN(core::ExecutionResult result, RunIn(*started.sandbox, run, std::move(stop)));
  watch.Lap();
  result.degraded.insert(result.degraded.end(), started.degraded.begin(), started.degraded.end());
  // Processes that the program left end here, so that they cannot change the files afterwards.
  SKERRY_RETURN_IF_ERROR(StopAndFinish(*started.sandbox, run.abilities, run.workspace, result));
  result.timings.obtain = obtain;
  result.timings.finish = watch.Lap();
  return result;
}

}  // namespace skerry::engine
