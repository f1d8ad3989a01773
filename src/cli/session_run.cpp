#include "cli/session_run.hpp"

#include <utility>

#include <nlohmann/json.hpp>

#include "base/utf8.hpp"
#include "cli/answer.hpp"
#include "cli/daemon_client.hpp"
#include "cli/piped_input.hpp"
#include "cli/run_events.hpp"
#include "cli/run_report.hpp"
#include "cli/terminal.hpp"

namespace skerry::cli {
namespace {

using Json = nlohmann::ordered_json;

// Refuses options for a sandbox of the run's own, or for paths of this machine, which may not be the daemon's.
base::Status CheckOptions(const RunOptions& options) {
  const auto refuse = [](const std::string& what) { return base::Err(base::Code::kInvalidArgument, what); };
  if (options.workspace) return refuse("a session has a workspace of its own: --session or --workspace");
  if (!options.allow_read.empty() || !options.allow_write.empty() || !options.dangerously_allow.empty())
    return refuse(
        "--allow-read and --allow-write are for a sandbox of its own; a session has what the daemon gives it");
  if (options.terminal) return refuse("--tty with --session: use skerry exec -t SESSION -- COMMAND");
  if (options.mode) return refuse("--mode with --session: the daemon's configuration says it, as sandbox.security");
  if (options.cpu) return refuse("--cpu is for the whole session: skerry session create --cpu PERCENT");
  if (options.disk) return refuse("--disk is for the whole session: skerry session create --disk MB");
  if (!options.allowed_domains.empty())
    return base::Err(base::Code::kUnavailable,
                     "--allow-domain: this version has no egress proxy yet, a sandbox has no network at all");
  return {};
}

// Stdin is the program's input, unless the code comes from there.
base::Result<std::optional<std::string>> InputFor(const RunOptions& options) {
  constexpr std::size_t kMost = std::size_t{4} << 20U;
  if (options.source.IsStdin() || !StdinIsPiped()) return std::optional<std::string>();
  auto input = ReadPiped(kMost);
  if (!input && input.error().code == base::Code::kTooLarge)
    return base::Err(base::Code::kTooLarge,
                     "stdin has more than 4 MB; use skerry exec, which passes it on as it comes");
  if (!input) return std::unexpected(input.error());
  if (!base::IsValidUtf8(*input))
    return base::Err(base::Code::kInvalidArgument, "stdin is no UTF-8; use skerry exec, which passes on every byte");
  if (input->empty()) return std::optional<std::string>();
  return std::optional(*std::move(input));
}

base::Result<Json> BodyOf(const RunOptions& options, const config::Sandbox& sandbox) {
  SKERRY_ASSIGN_OR_RETURN(const core::ExecutionRequest request, RequestOf(options, sandbox));
  SKERRY_RETURN_IF_ERROR(CheckIsText(request.code, "the code"));
  Json body = {{"code", request.code},
               {"language", core::NameOf(request.language)},
               {"max_output_mb", request.max_output_mb},
               // When this command ends, killed or not, the run ends too.
               {"on_disconnect", "cancel"}};
  SKERRY_RETURN_IF_ERROR(AddEnvironment(options.environment, body));
  for (const std::string& argument : request.code_arguments)
    SKERRY_RETURN_IF_ERROR(CheckIsText(argument, "an argument"));
  if (!request.code_arguments.empty()) body["arguments"] = request.code_arguments;
  if (!request.code_name.empty()) body["name"] = request.code_name;
  if (options.timeout) body["timeout"] = request.timeout.count();
  if (options.memory) body["max_memory_mb"] = request.max_memory_mb;
  if (options.sandbox != core::kAutoSandbox) body["sandbox_type"] = options.sandbox;
  if (options.image) body["image"] = *options.image;
  if (options.caused_by) body["caused_by"] = *options.caused_by;
  if (options.dry_run) body["dry_run"] = true;
  if (options.yes) body["approve"] = true;
  for (const auto& text : {options.image, options.caused_by, std::optional(options.sandbox)})
    if (text) SKERRY_RETURN_IF_ERROR(CheckIsText(*text, "an option"));
  SKERRY_ASSIGN_OR_RETURN(const auto input, InputFor(options));
  if (input) body["stdin"] = *input;
  return body;
}

base::Status Tell(const RunOptions& options, const RunEvents& events) {
  const Json& result = events.result();
  if (options.json) {
    const std::string text = ResultWithOutput(result, events.standard_output(), events.standard_error());
    if (Print(text + "\n")) return {};
    return base::Err(base::Code::kInternal, "cannot write the result to stdout");
  }
  for (const Json& lowering : ListIn(ObjectIn(result, "risk"), "lowerings"))
    if (lowering.is_string()) Note("risk: " + lowering.get<std::string>());
  ReportEnd(result, events.write_error());
  if (options.dry_run && TextIn(result, "outcome") != "rejected") ShowChanges(result);
  return {};
}

}  // namespace

base::Result<int> RunInSession(const RunOptions& options, const Context& context) {
  SKERRY_RETURN_IF_ERROR(CheckOptions(options));
  SKERRY_ASSIGN_OR_RETURN(const std::string target, InSession(*options.session, "/execute"));
  // Checks the numbers of the options as for a run without a session.
  SKERRY_ASSIGN_OR_RETURN(const config::Loaded loaded, context.LoadConfig(OverridesOf(options)));
  SKERRY_ASSIGN_OR_RETURN(const Json body, BodyOf(options, loaded.config.sandbox));
  SKERRY_ASSIGN_OR_RETURN(DaemonClient daemon, DaemonClient::Find(context));
  auto request = RequestWith("POST", target, body);
  request.headers.emplace_back("Accept", "text/event-stream");
  SKERRY_ASSIGN_OR_RETURN(auto answer, daemon.Send(request));
  RunEvents events(daemon, options.json ? Output::kCollected : Output::kPassedOn,
                   options.raw ? Shown::kRaw : Shown::kLines);
  SKERRY_RETURN_IF_ERROR(events.Follow(answer));
  SKERRY_RETURN_IF_ERROR(events.Failure());
  SKERRY_RETURN_IF_ERROR(Tell(options, events));
  return events.ExitCode();
}

}  // namespace skerry::cli
