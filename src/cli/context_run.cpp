#include "cli/context_run.hpp"

#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <array>

#include <nlohmann/json.hpp>

#include "cli/context_client.hpp"
#include "cli/context_outputs.hpp"
#include "cli/gate_options.hpp"
#include "cli/program_sink.hpp"
#include "cli/signal_watch.hpp"
#include "cli/terminal.hpp"
#include "engine/context_manager.hpp"
#include "json/context_json.hpp"
#include "json/text.hpp"
#include "policy/risk_policy.hpp"

namespace skerry::cli {
namespace {

using Json = nlohmann::ordered_json;

struct Refusal {
  bool given;
  const char* option;
  const char* why;
};

base::Status CheckOptions(const RunOptions& options) {
  constexpr char kWorkspace[] = "a context has a workspace of its own";
  constexpr char kFiles[] = "use the filesystem settings of the configuration";
  constexpr char kLimits[] = "a context has the limits of the configuration from its start";
  const std::array refusals = {
      Refusal{options.terminal, "--tty", "cells have no terminal"},
      Refusal{options.workspace.has_value(), "--workspace", kWorkspace},
      Refusal{options.image.has_value(), "--image", "contexts use the programs of the machine"},
      Refusal{options.sandbox != core::kAutoSandbox && options.sandbox != "native", "--sandbox",
              "only the native sandbox has contexts"},
      Refusal{!options.allow_read.empty(), "--allow-read", kFiles},
      Refusal{!options.allow_write.empty(), "--allow-write", kFiles},
      Refusal{!options.dangerously_allow.empty(), "--dangerously-allow", kFiles},
      Refusal{options.mode.has_value(), "--mode", "use sandbox.security of the configuration"},
      Refusal{options.memory.has_value(), "--memory", kLimits},
      Refusal{options.cpu.has_value(), "--cpu", kLimits},
      Refusal{options.disk.has_value(), "--disk", kLimits},
  };
  for (const Refusal& refusal : refusals)
    if (refusal.given)
      return base::Err(base::Code::kInvalidArgument,
                       std::string(refusal.option) + " cannot be used with --context: " + refusal.why);
  return {};
}

base::Result<Json> RequestFor(const RunOptions& options, const config::Sandbox& sandbox) {
  SKERRY_RETURN_IF_ERROR(CheckOptions(options));
  SKERRY_RETURN_IF_ERROR(engine::CheckContextName(*options.context));
  SKERRY_ASSIGN_OR_RETURN(const core::ExecutionRequest asked, RequestOf(options, sandbox));
  SKERRY_RETURN_IF_ERROR(core::Validate(asked));
  Json request = {{"do", "run"},
                  {"context", *options.context},
                  {"code", asked.code},
                  {"timeout_seconds", static_cast<std::uint64_t>(asked.timeout.count())},
                  {"max_output_mb", asked.max_output_mb}};
  // Without a word about it the language is the context's own.
  if (options.language || options.source.file) request["language"] = core::NameOf(asked.language);
  return request;
}

base::Result<KeeperClient> OpenKeeper(const Context& context) {
  SKERRY_ASSIGN_OR_RETURN(KeeperClient client, KeeperClient::Open(context, KeeperClient::Start::kIfNeeded));
  if (client.IsAnotherBuild())
    return base::Err(base::Code::kConflict,
                     "the contexts are kept by another build of skerry; skerry context stop ends it and them");
  return client;
}

// What the keeper knows of the cell: its language, and whether the person has approved it for good.
base::Result<Json> Consider(const Context& context, Json request) {
  request["do"] = "consider";
  SKERRY_ASSIGN_OR_RETURN(KeeperClient client, OpenKeeper(context));
  SKERRY_RETURN_IF_ERROR(client.Ask(request));
  return client.Hear(base::Deadline::After(std::chrono::seconds(30)));
}

// Asks the person where that is required; the request then carries the approval. The keeper decides for itself whether
// one is needed, and takes it for this cell only.
base::Status Confirm(const RunOptions& options, const config::Sandbox& sandbox, const Context& context, Json& request,
                     const SignalWatch& signals) {
  SKERRY_ASSIGN_OR_RETURN(const policy::PolicyOptions policy_options, PolicyOptionsOf(sandbox));
  SKERRY_ASSIGN_OR_RETURN(const Json known, Consider(context, request));
  request["language"] = known.value("language", "python");
  confirm::Question question{.session = *options.context,
                             .content_type = known.value("language", "python"),
                             .code = request.value("code", ""),
                             .conditions = {{"context", *options.context}},
                             .digest = known.value("digest", "")};
  question.risk = policy::RiskPolicy(policy_options).Assess(question.content_type, question.code);
  for (const std::string& lowering : question.risk.lowerings) Note("risk: " + lowering);
  const bool rejected = question.risk.suggested_sandbox == core::SuggestedSandbox::kReject;
  if (!question.risk.requires_confirmation || rejected || known.value("approved", false)) return {};
  const auto service = ConfirmationFor(options.yes ? Consent::kYes : Consent::kAsk);
  const confirm::Answer answer =
      service->Ask(question, base::Deadline::After(sandbox.confirm_timeout), signals.token());
  if (answer.decision != confirm::Decision::kApproved)
    return base::Err(base::Code::kRejected, "Rejected: " + answer.reason);
  request["approval"] = {{"digest", question.digest},
                         {"by", answer.by},
                         {"scope", answer.scope == confirm::Scope::kSession ? "session" : "once"}};
  return {};
}

// Where the streams of the cell go: on to our own, or into the result.
class Streams {
 public:
  Streams(const RunOptions& options, const SignalWatch& signals)
      : collect_(options.json),
        signals_(signals),
        sink_(options.raw ? Shown::kRaw : Shown::kLines, signals.interrupt_fd()) {}

  void Take(const Json& word) {
    const auto bytes = json::FromBase64(word.value("data_base64", ""));
    if (!bytes) return;
    const bool is_error = word.value("stream", "") == "stderr";
    if (collect_) {
      (is_error ? err : out) += *bytes;
      return;
    }
    // What the reader has no room for must not keep the interrupt from being sent; afterwards a second one ends us.
    sink_.Heed(signals_.signal() == 0 ? signals_.interrupt_fd() : -1);
    (void)sink_.Write(is_error ? core::Stream::kStderr : core::Stream::kStdout, *bytes, base::Deadline::Never());
  }

  void Finish() { sink_.Finish(); }

  [[nodiscard]] int error() const { return sink_.error(); }
  std::string out;
  std::string err;

 private:
  bool collect_;
  const SignalWatch& signals_;
  ProgramSink sink_;
};

// Passes words on until the result comes. Nothing when our own reader has gone: then the keeper ends the cell.
base::Result<std::optional<Json>> Follow(KeeperClient& client, Streams& streams, const SignalWatch& signals) {
  bool interrupted = false;
  for (;;) {
    std::array entries = {pollfd{client.socket(), POLLIN, 0},
                          pollfd{interrupted ? -1 : signals.interrupt_fd(), POLLIN, 0}};
    (void)::poll(entries.data(), entries.size(), -1);
    if (entries[1].revents != 0) {
      interrupted = true;
      SKERRY_RETURN_IF_ERROR(client.Ask({{"do", "interrupt"}}));
    }
    if (entries[0].revents == 0) continue;
    for (;;) {
      SKERRY_ASSIGN_OR_RETURN(const auto word, client.HearNow());
      if (!word) break;
      if (const auto result = word->find("result"); result != word->end()) return std::optional<Json>(*result);
      streams.Take(*word);
      if (streams.error() != 0) return std::optional<Json>();
    }
  }
}

base::Result<int> Report(const RunOptions& options, const Json& result, const Streams& streams,
                         const SignalWatch& signals) {
  if (options.save_outputs) SKERRY_RETURN_IF_ERROR(SaveOutputs(result, *options.save_outputs));
  const bool printed = options.json ? Print(json::WithStreams(json::Text(result), streams.out, streams.err) + "\n")
                                    : PrintOutputs(result, options.raw ? Shown::kRaw : Shown::kLines);
  if (!printed) return base::Err(base::Code::kInternal, "cannot write the result to stdout");
  const std::string outcome = result.value("outcome", "");
  if (!options.json && outcome != "exited" && outcome != "cancelled") Note(result.value("error", ""));
  if (!options.json && result.value("output_truncated", false))
    Note("output cut: the cell wrote " + std::to_string(result.value("output_bytes", std::uint64_t{0})) +
         " bytes; see --max-output");
  if (!result.value("alive", true))
    Note("context '" + *options.context + "' has died and its variables are lost; skerry context restart " +
         *options.context + " begins anew");
  if (outcome == "cancelled" && signals.signal() != 0) return 128 + signals.signal();
  return result.value("exit_code", 0);
}

}  // namespace

base::Result<int> RunInContext(const RunOptions& options, const Context& context) {
  SKERRY_ASSIGN_OR_RETURN(const config::Loaded loaded, context.LoadConfig(OverridesOf(options)));
  SKERRY_ASSIGN_OR_RETURN(Json request, RequestFor(options, loaded.config.sandbox));
  const SignalWatch signals;
  SKERRY_RETURN_IF_ERROR(Confirm(options, loaded.config.sandbox, context, request, signals));
  SKERRY_ASSIGN_OR_RETURN(KeeperClient client, OpenKeeper(context));
  SKERRY_RETURN_IF_ERROR(client.Ask(request));
  Streams streams(options, signals);
  SKERRY_ASSIGN_OR_RETURN(const auto result, Follow(client, streams, signals));
  streams.Finish();
  if (!result) return streams.error() == EPIPE ? 128 + SIGPIPE : base::RowOf(base::Code::kInternal).exit_code;
  return Report(options, *result, streams, signals);
}

}  // namespace skerry::cli
