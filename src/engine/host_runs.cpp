// How a Host performs runs.
#include <utility>

#include "confirm/auto_approve.hpp"
#include "engine/host.hpp"
#include "engine/recorded_questions.hpp"

namespace skerry::engine {
namespace {

// Shortens the lists of files to what the store keeps of every run.
RunEnd EndOf(core::ExecutionResult result, const Run& run) {
  result.execution_id = run.id();
  core::Shorten(result, core::kKeptLists);
  return {.result = std::move(result)};
}

RunEnd EndOf(const base::Error& error, const Run& run) {
  return {.result = {.execution_id = run.id(), .output_bytes = run.output_bytes()}, .error = error};
}

base::Reach ReachOf(const Principal& principal) {
  return principal.owner ? base::Reach::kReserve : base::Reach::kTenant;
}

// For a cell that was rejected or cancelled before it began.
core::CellDetails DetailsOfUnrunCell(SessionLife& life, const std::string& name) {
  core::CellDetails details{.context = name};
  if (const auto context = life.contexts().Find(name)) {
    details.language = context->language;
    details.number = context->cells;
  }
  return details;
}

}  // namespace

Asker Host::AskerFor(Run& run, Consent consent, const Principal& principal) {
  // Borrowed: the host outlives its runs.
  std::shared_ptr<confirm::ConfirmationService> asked(std::shared_ptr<void>(), &remembered_);
  if (consent == Consent::kGiven) asked = std::make_shared<confirm::AutoApprove>(principal.id);
  return {.confirmation = std::make_shared<RecordedQuestions>(std::move(asked), approvals_, *chronicle_, run),
          .execution = run.id(),
          .tenant = run.record().tenant,
          .token = principal.id,
          .session = run.record().session};
}

base::Status Host::NoteBegin(const Begun& begun, const Principal& principal, std::string_view code,
                             const std::optional<std::string>& input) {
  if (begun.replayed) return {};
  const auto noted = chronicle_->RunBegins(*begun.run, principal, code, input);
  if (!noted) (void)runs_->End(*begun.run, EndOf(noted.error(), *begun.run));
  return noted;
}

void Host::EndRun(Run& run, RunEnd end, const Principal& principal) {
  // No input may follow what the audit says of it.
  run.controls().End();
  // A client that learns of the end finds it in the audit.
  chronicle_->RunEnds(run, end);
  keeper_->Add(run.record().tenant, runs_->End(run, std::move(end)));
  chronicle_->RunEnded(run, *run.end(), principal.trace);
}

std::shared_ptr<void> Host::Performing() {
  const std::scoped_lock lock(mutex_);
  ++performing_;
  return {nullptr, [this](void*) {
            const std::scoped_lock done(mutex_);
            --performing_;
            performed_.notify_all();
          }};
}

template <class Do>
base::Result<Begun> Host::Launch(Begun begun, Place place, const std::stop_token& gone, const Principal& principal,
                                 Do act) {
  if (begun.replayed) {
    if (place == Place::kHere) (void)begun.run->Await(base::Deadline::Never(), gone);
    return begun;
  }
  // A library below may run out of memory: that ends this run and nothing else.
  const auto guarded = [this, principal, act = std::move(act)](Run& run) {
    try {
      act(run);
    } catch (const std::exception& error) {
      EndRun(run, EndOf(base::Error{base::Code::kInternal, error.what()}, run), principal);
    }
  };
  if (place == Place::kHere) {
    guarded(*begun.run);
    return begun;
  }
  const bool accepted = workers_.Submit([run = begun.run, guarded, mark = Performing()] { guarded(*run); });
  if (accepted) return begun;
  const base::Error busy{base::Code::kUnavailable, "too much runs already; try again later"};
  EndRun(*begun.run, EndOf(busy, *begun.run), principal);
  return std::unexpected(busy);
}

base::Result<Begun> Host::Execute(const Principal& principal, Work work, Place place) {
  SKERRY_RETURN_IF_ERROR(core::Validate(work.request));
  const bool known = work.claim && options_.store->FindClaim(work.claim->tenant, work.claim->key).has_value();
  if (!known) SKERRY_RETURN_IF_ERROR(Admit(principal));
  if (!work.request.context.empty()) {
    const auto context = work.session->life().contexts().Find(work.request.context);
    if (!context && work.creation == Creation::kNever) return std::unexpected(context.error());
    work.request.language = work.language.value_or(context ? context->language : core::Language::kPython);
  }
  RunOrder order{.record = {.session = work.session ? work.session->id() : "",
                            .tenant = principal.tenant,
                            .kind = work.kind,
                            .language = std::string(core::NameOf(work.request.language)),
                            .what = work.request.code},
                 .claim = work.claim,
                 .most_of_tenant = principal.most_runs,
                 .reach = ReachOf(principal),
                 .input = work.input,
                 .terminal = work.terminal};
  order.given_input = work.input_text.value_or("");
  SKERRY_ASSIGN_OR_RETURN(Begun begun, runs_->Begin(std::move(order)));
  SKERRY_RETURN_IF_ERROR(NoteBegin(begun, principal, work.request.code, work.input_text));
  auto shared = std::make_shared<Work>(std::move(work));
  return Launch(std::move(begun), place, shared->gone, principal,
                [this, shared, principal](Run& run) { Perform(run, *shared, principal); });
}

void Host::Perform(Run& run, Work& work, const Principal& principal) {
  if (work.session) work.session->Used();
  const std::stop_callback forward(work.cancel, [&run] { run.Cancel(); });
  RunShares::Turn turn = shares_.Take(principal.tenant, run.stop_token());
  SharingSink sink(run.sink(), shares_, principal.tenant, run.stop_token());
  RunStreams streams{.sink = &sink, .input = run.input(), .controls = &run.controls()};
  if (run.HasTerminal()) streams.terminal = TerminalOptions{.type = work.terminal_type};
  RunOccasion occasion{.asker = AskerFor(run, work.consent, principal),
                       .admitted = [this, &run, &turn] { Admitted(run, turn); }};
  const std::string context = work.request.context;
  if (!work.session) manager_.AddUsualEnvironment(work.request);
  auto result = work.session ? work.session->life().Execute(std::move(work.request), streams, std::move(occasion),
                                                            run.stop_token(), run.id())
                             : manager_.Execute(work.request, streams, occasion, run.stop_token());
  if (result && !context.empty() && !result->cell) result->cell = DetailsOfUnrunCell(work.session->life(), context);
  if (result && run.lost_bytes() != 0) {
    result->output_truncated = true;
    result->degraded.push_back("output: " + std::to_string(run.lost_bytes()) +
                               (run.was_refused_room()
                                    ? " bytes were not kept; the room for output is used up (sandbox.budgets.outputMb, "
                                      "outputPerTenantMb)"
                                    : " bytes could not be kept; the disk is full"));
  }
  EndRun(run, result ? EndOf(std::move(*result), run) : EndOf(Told(principal, result.error()), run), principal);
}

void Host::Admitted(Run& run, RunShares::Turn& turn) {
  turn.Renew(run.stop_token());
  run.MarkRunning();
  chronicle_->RunStarts(run);
}

base::Result<std::shared_ptr<Run>> Host::FindRun(const Principal& principal, const std::string& id) const {
  auto run = runs_->Find(id);
  if (run && principal.Sees((*run)->record().tenant)) return run;
  if (!run && run.error().code != base::Code::kNotFound) return run;
  return base::Err(base::Code::kNotFound, "there is no execution " + id.substr(0, 64));
}

base::Result<std::vector<std::shared_ptr<Run>>> Host::ListRuns(const Principal& principal,
                                                               core::RunFilter filter) const {
  if (!principal.everybody()) filter.tenant = principal.tenant;
  return runs_->List(filter);
}

void Host::RecordApproval(const confirm::Event& event) {
  const confirm::Question& question = event.approval->question;
  core::ApprovalRecord record{.id = event.approval->id,
                              .session = question.session,
                              .execution = question.execution,
                              .tenant = question.tenant,
                              .digest = question.digest,
                              .asked_at = event.approval->created};
  if (const auto run = runs_->Find(question.execution)) (*run)->Tell();
  if (event.kind == confirm::EventKind::kAsked) {
    if (const auto added = options_.store->AddApproval(record); !added) Warn(added.error().message);
    chronicle_->Asked(*event.approval, question.tenant);
    return;
  }
  record.decision = confirm::NameOf(event.answer.decision);
  record.decided_by = event.answer.by;
  record.decided_from = event.answer.from;
  record.scope = confirm::NameOf(event.answer.scope);
  record.reason = event.answer.reason;
  record.decided_at = std::chrono::system_clock::now();
  if (const auto decided = options_.store->DecideApproval(record); !decided) Warn(decided.error().message);
  chronicle_->Answered(event, question.tenant);
}

}  // namespace skerry::engine
