#include "cli/context_run.hpp"

#include <array>

#include <nlohmann/json.hpp>

#include "cli/answer.hpp"
#include "cli/context_home.hpp"
#include "cli/context_outputs.hpp"
#include "cli/run_events.hpp"
#include "cli/run_report.hpp"
#include "cli/terminal.hpp"
#include "engine/context_manager.hpp"

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
      Refusal{options.dry_run, "--dry-run", "what a cell does cannot be taken back"},
      Refusal{options.caused_by.has_value(), "--caused-by", "it is for runs of their own"},
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

base::Result<Json> BodyOf(const RunOptions& options, const config::Sandbox& sandbox) {
  SKERRY_ASSIGN_OR_RETURN(const core::ExecutionRequest asked, RequestOf(options, sandbox));
  SKERRY_RETURN_IF_ERROR(core::Validate(asked));
  SKERRY_RETURN_IF_ERROR(CheckIsText(asked.code, "the code"));
  Json body = {{"code", asked.code},
               {"create", true},
               {"max_output_mb", asked.max_output_mb},
               // When this command ends, killed or not, the cell ends too.
               {"on_disconnect", "cancel"}};
  // When no language is given it is the context's own.
  if (options.language || options.source.file) body["language"] = core::NameOf(asked.language);
  SKERRY_RETURN_IF_ERROR(AddEnvironment(options.environment, body));
  if (options.timeout) body["timeout"] = asked.timeout.count();
  if (options.yes) body["approve"] = true;
  return body;
}

// Whether the private daemon has ended, and the cell with it.
bool HasEnded(ContextHome& home) {
  return home.IsPrivate() && !home.client().Again().Ask("GET", "/v1/ready");
}

base::Result<int> Report(const RunOptions& options, const RunEvents& events) {
  const Json& result = events.result();
  const std::string outcome = TextIn(result, "outcome");
  const Shown shown = options.raw ? Shown::kRaw : Shown::kLines;
  for (const Json& lowering : ListIn(ObjectIn(result, "risk"), "lowerings"))
    if (lowering.is_string()) Note("risk: " + lowering.get<std::string>());
  if (options.save_outputs) SKERRY_RETURN_IF_ERROR(SaveOutputs(result, *options.save_outputs));
  const bool printed = options.json
                           ? Print(ResultWithOutput(result, events.standard_output(), events.standard_error()) + "\n")
                           : PrintOutputs(result, shown);
  if (!printed) return base::Err(base::Code::kInternal, "cannot write the result to stdout");
  if (!options.json && outcome != "exited" && outcome != "cancelled") Note(TextIn(result, "error"));
  if (!options.json && FlagIn(result, "output_truncated"))
    Note("output cut: the cell wrote " + std::to_string(NumberIn(result, "output_bytes")) + " bytes; see --max-output");
  if (result.contains("alive") && !FlagIn(result, "alive")) {
    const std::string name = *options.context + (options.session ? " --session " + *options.session : "");
    Note("context '" + *options.context + "' has died and its variables are lost; skerry context restart " + name +
         " begins anew");
  }
  // Another client has interrupted the cell.
  if (outcome == "cancelled" && events.signal() == 0) return static_cast<int>(NumberIn(result, "exit_code"));
  return events.ExitCode();
}

}  // namespace

base::Result<int> RunInContext(const RunOptions& options, const Context& context) {
  SKERRY_RETURN_IF_ERROR(CheckOptions(options));
  SKERRY_RETURN_IF_ERROR(engine::CheckContextName(*options.context));
  SKERRY_ASSIGN_OR_RETURN(const config::Loaded loaded, context.LoadConfig(OverridesOf(options)));
  SKERRY_ASSIGN_OR_RETURN(const Json body, BodyOf(options, loaded.config.sandbox));
  SKERRY_ASSIGN_OR_RETURN(ContextHome home, ContextHome::Need(context, options.session, *options.context));
  RunEvents events(home.client(), options.json ? Output::kCollected : Output::kPassedOn,
                   options.raw ? Shown::kRaw : Shown::kLines,
                   home.IsPrivate() ? Unattended::kRejected : Unattended::kWaits);
  auto request = RequestWith("POST", home.Target("/" + *options.context + "/execute"), body);
  request.headers.emplace_back("Accept", "text/event-stream");
  SKERRY_ASSIGN_OR_RETURN(auto answer, home.Send(request));
  const auto followed = events.Follow(answer);
  if (!followed && home.IsPrivate()) return std::unexpected(PrivateDaemonEnded());
  SKERRY_RETURN_IF_ERROR(followed);
  SKERRY_RETURN_IF_ERROR(events.Failure());
  if (events.write_error() != 0) return events.ExitCode();
  if (TextIn(events.result(), "outcome") == "cancelled" && events.signal() == 0 && HasEnded(home))
    return std::unexpected(PrivateDaemonEnded());
  return Report(options, events);
}

}  // namespace skerry::cli
