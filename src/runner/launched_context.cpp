#include "runner/launched_context.hpp"

#include <csignal>

#include "base/utf8.hpp"
#include "interpreters/worker.hpp"
#include "runner/limits_reached.hpp"
#include "runner/running_command.hpp"
#include "runner/stop_signal.hpp"

namespace skerry::runner {
namespace {

using Kind = interpreters::WorkerWord::Kind;
using std::chrono_literals::operator""s;

constexpr auto kReadyPatience = 30s;
constexpr auto kInterruptPatience = 2s;  // how long a cell may take to end after an interrupt

class NoSink : public core::OutputSink {
 public:
  core::SinkAnswer Write(core::Stream, std::string_view bytes, base::Deadline) override {
    return {.accepted = bytes.size()};
  }
};

// The names in a list like ["a", "b"]. The worker is not trusted: names only, without escapes.
std::vector<std::string> NamesIn(const std::string& list) {
  std::vector<std::string> names;
  for (std::size_t at = list.find('"'); at != std::string::npos; at = list.find('"', at + 1)) {
    const std::size_t end = list.find('"', at + 1);
    if (end == std::string::npos) break;
    names.push_back(base::ToValidUtf8(list.substr(at + 1, end - at - 1)));
    at = end;
  }
  return names;
}

// Keeps the sandbox alive while a cell runs in a context that shares it.
class Turn {
 public:
  Turn(std::shared_ptr<SharedHandle> life, core::Reach ends) : life_(std::move(life)) {
    if (ends == core::Reach::kCommand) number_ = life_->BeginTurn({});
  }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;
  ~Turn() {
    if (number_) (void)life_->EndTurn(*number_);
  }

 private:
  std::shared_ptr<SharedHandle> life_;
  std::optional<std::uint64_t> number_;
};

}  // namespace

struct LaunchedContext::Progress {
  std::string id;
  std::uint64_t room = 0;  // bytes left for outputs
  core::CellResult result;
  core::ContextState* state = nullptr;
};

LaunchedContext::LaunchedContext(LaunchedSandbox& sandbox, core::Language language, core::Reach ends,
                                 WorkerProcess worker, core::StartKind start)
    : sandbox_(sandbox), language_(language), ends_(ends), worker_(std::move(worker)), start_(start) {
  worker_.input.Reset();  // cells have no input
  sources_.standard_output = std::move(worker_.output);
  sources_.standard_error = std::move(worker_.error);
  WatchedProcess& process = worker_.process();
  if (ends_ == core::Reach::kCommand) {
    process.ShareLife();
    seen_ = process.life().AskUsage();
  }
  // The init's socket shows the end of the sandbox.
  sources_.controls = {worker_.channel_fd(), process.life().control_fd(), process.controls()[1]};
}

LaunchedContext::~LaunchedContext() {
  if (ends_ == core::Reach::kCommand && LaunchedContext::Alive()) (void)worker_.process().EndTree();
}

bool LaunchedContext::Alive() const {
  return alive_ && !worker_.process().life().Over();
}

// Ends a context that ignores an interrupt, with all its processes; with Reach::kSandbox the sandbox as well.
base::Result<core::Outcome> LaunchedContext::Die() {
  alive_ = false;
  const WatchedProcess& process = worker_.process();
  const core::Outcome lost = core::EndedByLoss();
  if (ends_ == core::Reach::kSandbox) {
    SKERRY_RETURN_IF_ERROR(sandbox_.Kill(process.shared_life()));
    const launcher::Usage used = process.life().LastUsage();
    return used.out_of_memory_kills != 0 ? OutcomeOf(SIGKILL, used, sandbox_.limits()) : lost;
  }
  const auto end = process.EndTree();
  const launcher::Usage used = UsedSince(seen_, process.life().AskUsage());
  const bool killed = end && end->wait_status == SIGKILL;
  return killed && used.out_of_memory_kills != 0 ? OutcomeOf(SIGKILL, used, sandbox_.limits()) : lost;
}

bool LaunchedContext::Heed(interpreters::WorkerWord word, Progress& progress) const {
  switch (word.kind) {
    case Kind::kDisplay:
    case Kind::kResult: {
      core::CellOutput output;
      output.kind = word.kind == Kind::kResult ? core::CellOutput::Kind::kResult : core::CellOutput::Kind::kDisplay;
      for (std::size_t at = 0; at + 1 < word.fields.size(); at += 2) {
        const std::size_t size = word.fields[at].size() + word.fields[at + 1].size();
        if (size > progress.room) {
          progress.result.output_truncated = true;
          continue;
        }
        progress.room -= size;
        output.forms.push_back({std::move(word.fields[at]), std::move(word.fields[at + 1])});
      }
      if (!output.forms.empty()) progress.result.outputs.push_back(std::move(output));
      return false;
    }
    case Kind::kError:
      progress.result.error = {std::move(word.fields[0]), std::move(word.fields[1]), std::move(word.fields[2])};
      return false;
    case Kind::kState:
      if (progress.state != nullptr && word.fields[0] == progress.id)
        *progress.state = {std::move(word.fields[1]), NamesIn(word.fields[2])};
      return false;
    case Kind::kDone:
      if (word.fields[0] != progress.id) return false;
      progress.result.outcome.exit_code = word.fields[1] == "ok" && !progress.result.error ? 0 : 1;
      return true;
    default:
      return false;
  }
}

bool LaunchedContext::HeedAll(Progress& progress) {
  while (auto word = worker_.NextWord())
    if (Heed(std::move(*word), progress)) return true;
  return false;
}

base::Result<core::CellResult> LaunchedContext::Ask(const std::string& message, const core::Cell& cell,
                                                    core::OutputSink& sink, std::stop_token stop,
                                                    core::ContextState* state) {
  if (!Alive()) return base::Err(base::Code::kNotStarted, "the context has ended; restart it");
  Progress progress{.id = std::to_string(next_id_++), .room = cell.max_output_bytes, .result = {}, .state = state};
  CommandPump pump(sink, cell.max_output_bytes);
  InputFeed no_input;
  const StopSignal interrupt(std::move(stop));
  sources_.interrupt = interrupt.get();
  const WatchedProcess& process = worker_.process();
  const Turn turn(process.shared_life(), ends_);
  auto deadline = base::Deadline::After(cell.timeout);
  const auto sent = worker_.Send(message, deadline);
  bool listening = sent.has_value();
  std::optional<core::Outcome> ended_by;  // why Skerry ended the cell
  if (!sent && sent.error().code == base::Code::kTimeout) ended_by = core::EndedByTimeout(cell.timeout);
  for (bool done = false; !done && listening;) {
    SKERRY_ASSIGN_OR_RETURN(const PumpEnd end, pump.Run(sources_, no_input, deadline));
    if (end != PumpEnd::kControlReady) {
      if (ended_by) break;  // the cell ignored the interrupt
      ended_by = end == PumpEnd::kDeadline ? core::EndedByTimeout(cell.timeout) : core::EndedByStop();
      sources_.interrupt = -1;
      pump.ReadOn();
      deadline = base::Deadline::After(kInterruptPatience);
      if (!process.Signal(SIGINT)) break;
      continue;
    }
    listening = worker_.Listen();
    done = HeedAll(progress);
    if (!done) {
      const auto gone = process.life().TakeEnd(process.id(), SharedHandle::Kind::kCommand);
      if (gone && *gone) worker_.HearLastWords();
      done = HeedAll(progress);
      if (!gone || *gone) listening = false;
    }
    if (done) {
      (void)pump.Drain(sources_, base::Deadline::After(kEndPatience));
      if (ended_by) progress.result.outcome = *ended_by;
      progress.result.output_truncated = progress.result.output_truncated || pump.truncated();
      progress.result.output_bytes = pump.total_bytes();
      if (ends_ == core::Reach::kCommand) seen_ = process.life().LastUsage();
      return std::move(progress.result);
    }
  }
  (void)pump.Drain(sources_, base::Deadline::After(0s));
  SKERRY_ASSIGN_OR_RETURN(progress.result.outcome, Die());
  if (ended_by) progress.result.outcome = *ended_by;
  progress.result.alive = false;
  progress.result.output_bytes = pump.total_bytes();
  return std::move(progress.result);
}

base::Result<core::CellResult> LaunchedContext::Run(const core::Cell& cell, core::OutputSink& sink,
                                                    std::stop_token stop) {
  return Ask(interpreters::CellMessage(next_id_, cell.text, cell.environment), cell, sink, std::move(stop), nullptr);
}

base::Result<core::ContextState> LaunchedContext::Save(std::chrono::milliseconds timeout) {
  if (language_ != core::Language::kPython)
    return base::Err(base::Code::kUnavailable, "only Python contexts can be branched");
  core::ContextState state;
  NoSink sink;
  const core::Cell cell{.text = {}, .timeout = timeout};
  SKERRY_ASSIGN_OR_RETURN(const core::CellResult result,
                          Ask(interpreters::DumpMessage(next_id_), cell, sink, {}, &state));
  if (!result.error && result.alive && !state.bytes.empty()) return state;
  return base::Err(base::Code::kExecutionFailed,
                   "the context could not be saved" + (result.error ? ": " + result.error->message : std::string()));
}

base::Status LaunchedContext::Load(const core::ContextState& state, std::chrono::milliseconds timeout) {
  if (language_ != core::Language::kPython)
    return base::Err(base::Code::kUnavailable, "only Python contexts can be branched");
  NoSink sink;
  const core::Cell cell{.text = {}, .timeout = timeout};
  SKERRY_ASSIGN_OR_RETURN(const core::CellResult result,
                          Ask(interpreters::LoadMessage(next_id_, state.bytes), cell, sink, {}, nullptr));
  if (!result.error && result.alive) return {};
  return base::Err(base::Code::kExecutionFailed,
                   "the context could not be loaded" + (result.error ? ": " + result.error->message : std::string()));
}

base::Result<std::unique_ptr<core::Context>> LaunchedSandbox::OpenContext(const core::NewContext& context) {
  const auto [language, ends, environment] = context;
  SKERRY_ASSIGN_OR_RETURN(const std::shared_ptr<SharedHandle> life, Begin());
  const Turn turn(life, ends);
  if (ends == core::Reach::kSandbox) SKERRY_RETURN_IF_ERROR(life->Announce({}));
  SKERRY_ASSIGN_OR_RETURN(const launcher::CommandRequest request, RequestFor({.environment = environment}));
  const core::Command probe{.program = core::Code{language, spec_.preload == core::Preload::kPythonData ? "numpy" : ""},
                            .environment = environment};
  std::optional<Found> found = FindWorker(life, probe);
  if (!found) {
    SKERRY_ASSIGN_OR_RETURN(WorkerProcess worker, WorkerProcess::Exec(life, language, request));
    SKERRY_RETURN_IF_ERROR(worker.AwaitReady(base::Deadline::After(kReadyPatience)));
    found.emplace(std::move(worker), core::StartKind::kExec);
  }
  // A shell gets directory and environment at its start.
  if (language != core::Language::kShell)
    SKERRY_RETURN_IF_ERROR(found->worker.Send(interpreters::CellsMessage(request.directory, request.environment),
                                              base::Deadline::After(kReadyPatience)));
  return std::make_unique<LaunchedContext>(*this, language, ends, std::move(found->worker), found->start);
}

}  // namespace skerry::runner
