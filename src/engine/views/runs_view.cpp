#include "engine/views/runs_view.hpp"

#include <algorithm>
#include <utility>

#include "engine/host.hpp"
#include "engine/views/ceilings.hpp"
#include "engine/views/run_attachment.hpp"
#include "engine/views/signals.hpp"

namespace skerry::engine {
namespace {

constexpr std::chrono::seconds kLongestCommand{86'400};
constexpr std::chrono::seconds kUsualCommand{300};

// The kind's name in records.
std::string NameOf(RunKind kind) {
  switch (kind) {
    case RunKind::kCode:
      return "execute";
    case RunKind::kCommand:
      return "command";
    case RunKind::kCell:
      return "cell";
  }
  return "";
}

base::Error NoCommand(const std::string& id) {
  return {base::Code::kNotFound, "there is no command " + id.substr(0, 64)};
}

}  // namespace

base::Result<NewRun> RunsView::Draft(RunKind kind, std::optional<SessionHandle> session) const {
  return Allowed(kToRun, [&]() -> base::Result<NewRun> {
    if (session) SKERRY_RETURN_IF_ERROR(CheckOwned(*session));
    const SessionSettings& settings = session ? HostedOf(*session)->settings() : options().defaults;
    NewRun draft{.kind = kind, .session = std::move(session)};
    draft.request.timeout = kind == RunKind::kCommand ? kUsualCommand : settings.timeout;
    draft.request.max_memory_mb = settings.limits.memory_mb;
    draft.request.image = settings.image;
    draft.request.max_output_mb = options().max_output_mb;
    return draft;
  });
}

// Checks the wanted run against what the principal may ask for, and cuts its output limit.
base::Status RunsView::Bound(NewRun& wanted) const {
  if (wanted.consent == Consent::kGiven && !principal().scopes.May(kToApprove))
    return base::Err(base::Code::kPermissionDenied, "to approve needs the scope approve");
  if (wanted.session) SKERRY_RETURN_IF_ERROR(CheckOwned(*wanted.session));
  if (wanted.kind != RunKind::kCode && !wanted.session)
    return base::Err(base::Code::kInvalidArgument, "commands and cells are for sessions");
  if (wanted.claim) wanted.claim->tenant = principal().tenant;
  core::ExecutionRequest& request = wanted.request;
  request.max_output_mb = OutputWithin(principal(), options().max_output_mb, request.max_output_mb);
  if (wanted.kind == RunKind::kCell) return CheckContextName(request.context);
  if (wanted.kind == RunKind::kCommand) request.longest = kLongestCommand;
  const std::uint64_t configured = options().defaults.limits.memory_mb;
  const std::uint64_t most =
      wanted.session ? std::max(HostedOf(*wanted.session)->settings().limits.memory_mb, configured) : configured;
  SKERRY_RETURN_IF_ERROR(CheckMemory(principal(), most, request.max_memory_mb));
  if (wanted.kind == RunKind::kCode) SKERRY_RETURN_IF_ERROR(manager().Choose(request.sandbox_type));
  return {};
}

base::Result<Begun> RunsView::Execute(NewRun wanted, Place place) const {
  auto session = wanted.session ? HostedOf(*wanted.session) : nullptr;
  Work work{.session = std::move(session),
            .kind = NameOf(wanted.kind),
            .request = std::move(wanted.request),
            .creation = wanted.creation,
            .language = wanted.language,
            .consent = wanted.consent,
            .input_text = std::move(wanted.input_text),
            .input = wanted.input,
            .terminal = wanted.terminal,
            .gone = wanted.gone,
            .claim = std::move(wanted.claim)};
  if (wanted.when_left == WhenLeft::kEnds) work.cancel = wanted.gone;
  return host().Execute(principal(), std::move(work), place);
}

base::Result<StartedRun> RunsView::Begin(NewRun wanted, Place place) const {
  return Allowed(kToRun, [&]() -> base::Result<StartedRun> {
    SKERRY_RETURN_IF_ERROR(Bound(wanted));
    const WhenLeft when_left = wanted.when_left;
    SKERRY_ASSIGN_OR_RETURN(Begun begun, Execute(std::move(wanted), place));
    StartedRun started{.run = begun.run, .replayed = begun.replayed, .leash = nullptr};
    if (when_left == WhenLeft::kEndsUnattended) begun.run->EndUnattended();
    if (when_left == WhenLeft::kEnds && place == Place::kBeside)
      started.leash = {nullptr, [run = begun.run](void*) { run->Cancel(); }};
    return started;
  });
}

base::Result<RunsView::RunPointer> RunsView::Find(const std::string& id) const {
  return Allowed(kToRead, [&]() -> base::Result<RunPointer> { return host().FindRun(principal(), id); });
}

base::Result<RunsView::RunPointer> RunsView::FindCommand(const SessionHandle& session, const std::string& id) const {
  return Allowed(kToRead, session, [&](HostedSession& hosted) -> base::Result<RunPointer> {
    SKERRY_ASSIGN_OR_RETURN(RunPointer run, host().FindRun(principal(), id));
    if (run->record().session == hosted.id() && run->record().kind == "command") return run;
    return std::unexpected(NoCommand(id));
  });
}

base::Result<std::vector<RunsView::RunPointer>> RunsView::List(core::RunFilter filter) const {
  return Allowed(kToRead, [&]() -> base::Result<std::vector<RunPointer>> {
    SKERRY_ASSIGN_OR_RETURN(const auto runs, host().ListRuns(principal(), std::move(filter)));
    return std::vector<RunPointer>(runs.begin(), runs.end());
  });
}

base::Result<std::optional<RunQuestion>> RunsView::QuestionOf(const Run& run) const {
  return Allowed(kToRead, [&]() -> base::Result<std::optional<RunQuestion>> {
    SKERRY_RETURN_IF_ERROR(CheckOwned(run));
    if (run.state() != core::RunState::kWaiting) return std::nullopt;
    for (const auto& approval : approvals().List())
      if (approval->question.execution == run.id())
        return RunQuestion{approval->id, approval->question.digest, approval->expires};
    return std::nullopt;
  });
}

base::Result<std::optional<RunChanges>> RunsView::Changes(const Run& run, std::uint64_t after,
                                                          std::size_t limit) const {
  return Allowed(kToRead, [&]() -> base::Result<std::optional<RunChanges>> {
    SKERRY_RETURN_IF_ERROR(CheckOwned(run));
    if (run.record().session.empty() || record() == nullptr) return std::nullopt;
    const auto recorded = record()->FindExecution(run.id());
    if (!recorded) return std::nullopt;
    SKERRY_ASSIGN_OR_RETURN(core::ChangesPage page, record()->PageOfChanges(run.id(), after, limit));
    return RunChanges{std::move(page), recorded->left_out};
  });
}

base::Result<std::optional<RunNotices>> RunsView::Notices(const Run& run, core::FileNotice::About about,
                                                          std::uint64_t after, std::size_t limit) const {
  return Allowed(kToRead, [&]() -> base::Result<std::optional<RunNotices>> {
    SKERRY_RETURN_IF_ERROR(CheckOwned(run));
    if (run.record().session.empty() || record() == nullptr) return std::nullopt;
    const auto recorded = record()->FindExecution(run.id());
    if (!recorded) return std::nullopt;
    SKERRY_ASSIGN_OR_RETURN(core::NoticesPage page, record()->PageOfNotices(run.id(), about, after, limit));
    return RunNotices{std::move(page), recorded->left_out};
  });
}

Deed RunsView::DeedOf(const char* event, const Run& run, Deed::Weight weight) const {
  return {.event = event, .session = run.record().session, .weight = weight};
}

base::Result<RunsView::RunPointer> RunsView::Cancel(const std::string& id) const {
  return Allowed(kToRun, [&]() -> base::Result<RunPointer> {
    SKERRY_ASSIGN_OR_RETURN(auto run, host().FindRun(principal(), id));
    SKERRY_RETURN_IF_ERROR(Record(DeedOf("run.cancelled", *run, Deed::Weight::kEnding), {{"execution_id", run->id()}}));
    run->Cancel();
    return run;
  });
}

// The audit has one hash, of all input: a few bytes could be guessed from a hash of their own.
base::Status RunsView::Feed(const std::string& id, std::string_view bytes, std::optional<bool> end) const {
  constexpr auto kPatience = std::chrono::seconds(30);
  return Allowed(kToRun, [&]() -> base::Status {
    SKERRY_ASSIGN_OR_RETURN(const auto run, host().FindRun(principal(), id));
    Details details;
    if (end) details.push_back({"end", *end ? "true" : "false"});
    details.push_back({"bytes", bytes.size()});
    details.push_back({"execution_id", run->id()});
    return Recorded(DeedOf("run.fed", *run), details, [&]() -> base::Status {
      const auto deadline = base::Deadline::After(kPatience);
      for (std::string_view rest = bytes; !rest.empty();) {
        SKERRY_ASSIGN_OR_RETURN(const std::size_t taken, run->Feed(rest));
        rest.remove_prefix(taken);
        if (!rest.empty() && !run->AwaitRoom(deadline))
          return base::Err(base::Code::kTimeout, "the command does not read its input: " + std::to_string(rest.size()) +
                                                     " bytes were not taken");
      }
      return end.value_or(false) ? run->EndInput() : base::Status{};
    });
  });
}

base::Status RunsView::Send(Run& run, int number) const {
  const Details details = {{"signal", std::string(SignalName(number))}, {"execution_id", run.id()}};
  return Recorded(DeedOf("run.signalled", run, Deed::Weight::kEnding), details, [&] { return run.Signal(number); });
}

base::Status RunsView::Signal(const std::string& id, int number) const {
  return Allowed(kToRun, [&]() -> base::Status {
    SKERRY_ASSIGN_OR_RETURN(const auto run, host().FindRun(principal(), id));
    return Send(*run, number);
  });
}

// Not in the audit: the size of a window does no harm.
base::Status RunsView::Resize(const std::string& id, const core::TerminalSize& size) const {
  return Allowed(kToRun, [&]() -> base::Status {
    SKERRY_ASSIGN_OR_RETURN(const auto run, host().FindRun(principal(), id));
    return run->Resize(size);
  });
}

base::Result<std::shared_ptr<RunAttachment>> RunsView::Attach(const std::string& id, std::uint64_t offset,
                                                              std::optional<WhenLeft> when_left) const {
  using Attached = std::shared_ptr<RunAttachment>;
  return Allowed(kToRun, [&]() -> base::Result<Attached> {
    SKERRY_ASSIGN_OR_RETURN(auto run, host().FindRun(principal(), id));
    const bool ends = when_left && *when_left != WhenLeft::kGoesOn;
    Details details;
    if (when_left) details.push_back({"on_disconnect", ends ? "kill" : "continue"});
    details.push_back({"execution_id", run->id()});
    return Recorded(DeedOf("run.attached", *run), details, [&]() -> base::Result<Attached> {
      SKERRY_ASSIGN_OR_RETURN(OutputReader reader, run->Output(offset));
      if (ends) run->EndUnattended();
      return Attached(new RunAttachment(access(), std::move(run), std::move(reader)));
    });
  });
}

RunAttachment::RunAttachment(Access access, std::shared_ptr<Run> run, OutputReader reader)
    : access_(std::move(access)), run_(std::move(run)), reader_(std::move(reader)) {
  run_->Attach();
}

base::Status RunAttachment::Signal(int number) {
  return access_.runs().Send(*run_, number);
}

void RunAttachment::Leave() {
  std::call_once(left_, [this] { run_->Detach(); });
}

}  // namespace skerry::engine
