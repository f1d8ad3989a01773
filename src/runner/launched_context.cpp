#include "runner/launched_context.hpp"

#include <csignal>

#include "base/utf8.hpp"
#include "interpreters/worker.hpp"
#include "runner/running_command.hpp"
#include "runner/stop_signal.hpp"

namespace skerry::runner {
namespace {

using Kind = interpreters::WorkerWord::Kind;
using std::chrono_literals::operator""s;

constexpr auto kReadyPatience = 30s;
constexpr auto kInterruptPatience = 2s;  // for a cell to end after it was interrupted

class NoSink : public core::OutputSink {
 public:
  core::SinkAnswer Write(core::Stream, std::string_view bytes, base::Deadline) override {
    return {.accepted = bytes.size()};
  }
};

// ["a", "b"] of a worker that is not to be believed: names only, without escapes.
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

}  // namespace

struct LaunchedContext::Progress {
  std::string id;
  std::uint64_t room = 0;  // for outputs
  core::CellResult result;
  core::ContextState* state = nullptr;
};

LaunchedContext::LaunchedContext(LaunchedSandbox& sandbox, core::Language language, WorkerProcess worker,
                                 core::StartKind start)
    : sandbox_(sandbox), language_(language), worker_(std::move(worker)), start_(start) {
  worker_.input.Reset();  // cells have no input
  sources_.standard_output = std::move(worker_.output);
  sources_.standard_error = std::move(worker_.error);
  sources_.controls = {worker_.channel_fd(), -1};
}

bool LaunchedContext::Alive() const {
  return alive_ && sandbox_.handle_.has_value();
}

base::Status LaunchedContext::Interrupt() const {
  return worker_.forked_pid() ? sandbox_.handle_->SignalFork(*worker_.forked_pid(), SIGINT)
                              : sandbox_.handle_->SignalCommand(worker_.command_id(), SIGINT);
}

// The sandbox goes with it: nothing of a context that does not obey lives on.
base::Result<core::Outcome> LaunchedContext::Die() {
  alive_ = false;
  SKERRY_RETURN_IF_ERROR(sandbox_.Kill());
  if (sandbox_.usage_.out_of_memory_kills > 0) return sandbox_.Judge(SIGKILL);
  return core::Outcome{.kind = core::OutcomeKind::kLost, .exit_code = kExitKilled};
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

base::Result<core::CellResult> LaunchedContext::Ask(const std::string& message, const core::Cell& cell,
                                                    core::OutputSink& sink, std::stop_token stop,
                                                    core::ContextState* state) {
  if (!Alive()) return base::Err(base::Code::kNotStarted, "the context has ended; restart it");
  Progress progress{.id = std::to_string(next_id_++), .room = cell.max_output_bytes, .result = {}, .state = state};
  CommandPump pump(sink, cell.max_output_bytes);
  InputFeed no_input(-1, {});
  const StopSignal interrupt(std::move(stop));
  sources_.interrupt = interrupt.get();
  sources_.controls[1] = sandbox_.handle_->control_fd();
  auto deadline = base::Deadline::After(cell.timeout);
  const auto sent = worker_.Send(message, deadline);
  bool listening = sent.has_value();
  std::optional<core::Outcome> ended_by;  // us
  if (!sent && sent.error().code == base::Code::kTimeout) ended_by = TimedOut(cell.timeout);
  for (bool done = false; !done && listening;) {
    SKERRY_ASSIGN_OR_RETURN(const PumpEnd end, pump.Run(sources_, no_input, deadline));
    if (end != PumpEnd::kControlReady) {
      if (ended_by) break;  // it did not heed the interrupt
      ended_by = end == PumpEnd::kDeadline
                     ? TimedOut(cell.timeout)
                     : core::Outcome{.kind = core::OutcomeKind::kCancelled, .exit_code = kExitInterrupted};
      sources_.interrupt = -1;
      pump.ReadOn();
      deadline = base::Deadline::After(kInterruptPatience);
      if (!Interrupt()) break;
      continue;
    }
    listening = worker_.Listen();
    while (!done) {
      auto word = worker_.NextWord();
      if (!word) break;
      done = Heed(std::move(*word), progress);
    }
    if (done) {
      (void)pump.Drain(sources_, base::Deadline::After(kEndPatience));
      if (ended_by) progress.result.outcome = *ended_by;
      progress.result.output_truncated = progress.result.output_truncated || pump.truncated();
      progress.result.output_bytes = pump.total_bytes();
      return std::move(progress.result);
    }
    // The init speaks only at the end of something, and its socket closes with the sandbox.
    const auto gone = sandbox_.TakeCommandEnd(worker_.command_id());
    if (!gone || *gone) listening = false;
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
  return Ask(interpreters::CellMessage(next_id_, cell.text), cell, sink, std::move(stop), nullptr);
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

base::Result<std::unique_ptr<core::Context>> LaunchedSandbox::OpenContext(core::Language language) {
  if (!started_) return base::Err(base::Code::kNotStarted, "the sandbox has not been started");
  SKERRY_RETURN_IF_ERROR(Start());
  SKERRY_RETURN_IF_ERROR(handle_->AnnounceActivity({}));
  SKERRY_ASSIGN_OR_RETURN(launcher::CommandRequest request, RequestFor({}));
  core::Command probe{.program = core::Code{language, spec_.preload == core::Preload::kPythonData ? "numpy" : ""}};
  std::optional<Found> found = FindWorker(probe);
  if (!found) {
    ++next_command_;
    SKERRY_ASSIGN_OR_RETURN(WorkerProcess worker, WorkerProcess::Exec(*handle_, language, request));
    SKERRY_RETURN_IF_ERROR(worker.AwaitReady(base::Deadline::After(kReadyPatience)));
    found.emplace(std::move(worker), core::StartKind::kExec);
  }
  // A shell has what it needs from its start.
  if (language != core::Language::kShell)
    SKERRY_RETURN_IF_ERROR(found->worker.Send(interpreters::CellsMessage(request.directory, request.environment),
                                              base::Deadline::After(kReadyPatience)));
  return std::make_unique<LaunchedContext>(*this, language, std::move(found->worker), found->start);
}

}  // namespace skerry::runner
