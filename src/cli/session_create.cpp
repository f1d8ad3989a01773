// skerry session create.
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "cli/answer.hpp"
#include "cli/assignments.hpp"
#include "cli/daemon_client.hpp"
#include "cli/progress.hpp"
#include "cli/session_parts.hpp"
#include "cli/terminal.hpp"
#include "workspace/session_directory.hpp"

namespace skerry::cli {
namespace {

using Json = nlohmann::ordered_json;

struct CreateOptions {
  std::optional<std::string> name;
  std::optional<std::string> source;
  std::optional<std::string> mode;
  std::optional<std::string> backend;
  std::optional<std::string> image;
  std::optional<std::uint64_t> memory;
  std::optional<std::uint64_t> cpu;
  std::optional<std::uint64_t> disk;
  std::optional<std::uint64_t> pids;
  std::optional<std::uint64_t> timeout;
  std::optional<std::uint64_t> ttl;
  std::optional<std::uint64_t> idle;
  std::vector<std::string> environment;
  std::vector<std::string> metadata;
  bool json = false;
};

template <class Value>
void Put(Json& object, const char* name, const std::optional<Value>& value) {
  if (value) object[name] = *value;
}

Json LimitsOf(const CreateOptions& options) {
  Json limits = Json::object();
  Put(limits, "memory_mb", options.memory);
  Put(limits, "cpu_percent", options.cpu);
  Put(limits, "disk_mb", options.disk);
  Put(limits, "pids", options.pids);
  Put(limits, "timeout_seconds", options.timeout);
  return limits;
}

base::Result<Json> BodyOf(const CreateOptions& options) {
  if (options.source)
    return base::Err(base::Code::kInvalidArgument,
                     "--from: where sessions start from is said to the daemon; set sandbox.workspace.source there");
  if (options.name) SKERRY_RETURN_IF_ERROR(workspace::CheckSessionId(*options.name));
  for (const auto& text : {options.mode, options.backend, options.image})
    if (text) SKERRY_RETURN_IF_ERROR(CheckIsText(*text, "an option"));
  Json body = Json::object();
  Put(body, "id", options.name);
  Put(body, "mode", options.mode);
  Put(body, "backend", options.backend);
  Put(body, "image", options.image);
  if (Json limits = LimitsOf(options); !limits.empty()) body["limits"] = std::move(limits);
  Put(body, "ttl_seconds", options.ttl);
  Put(body, "idle_seconds", options.idle);
  if (!options.environment.empty()) {
    SKERRY_ASSIGN_OR_RETURN(body["environment"], AssignmentsToJson(options.environment, "--env"));
  }
  if (!options.metadata.empty()) {
    SKERRY_ASSIGN_OR_RETURN(body["metadata"], AssignmentsToJson(options.metadata, "--label"));
  }
  return body;
}

// With an image it may take a while.
base::Result<Json> Make(DaemonClient& daemon, const Json& body) {
  const Spinner spinner("makes the session");
  return daemon.Ask("POST", "/v1/sessions", body);
}

base::Result<int> Create(const Context& context, const CreateOptions& options) {
  SKERRY_ASSIGN_OR_RETURN(const Json body, BodyOf(options));
  SKERRY_ASSIGN_OR_RETURN(DaemonClient daemon, DaemonClient::Find(context));
  SKERRY_ASSIGN_OR_RETURN(const Json session, Make(daemon, body));
  options.json ? PrintIndented(SessionForPeople(session)) : Print(TextIn(session, "id") + "\n");
  return 0;
}

void AddLimits(CLI::App& create, CreateOptions& options) {
  create.add_option("--memory", options.memory, "Memory for all its processes together, from 16")->option_text("MB");
  create.add_option("--cpu", options.cpu, "Share of the CPU in percent of one core; 0 is no limit")
      ->option_text("PERCENT");
  create.add_option("--disk", options.disk, "What may be written to its workspace")->option_text("MB");
  create.add_option("--pids", options.pids, "Processes and threads at once")->option_text("N");
  create.add_option("--timeout", options.timeout, "Of a run that asks for no other, 1 to 300")->option_text("SECONDS");
  create.add_option("--ttl", options.ttl, "Until it is removed with its files")->option_text("SECONDS");
  create.add_option("--idle", options.idle, "Without a run, until its sandbox is given back")->option_text("SECONDS");
}

}  // namespace

void AddSessionCreate(const SessionGroup& group) {
  auto options = std::make_shared<CreateOptions>();
  CLI::App* create = group.app.add_subcommand("create", "Make a session; its name is printed");
  create->add_option("name", options->name, "Its name; one is made up without")->option_text("NAME");
  create
      ->add_option("--mode", options->mode,
                   "per-session (a sandbox while it is in use), shared (one for all sessions), or disabled")
      ->option_text("MODE");
  create->add_option("--backend", options->backend, "What isolates it; see skerry backends")->option_text("TYPE");
  create->add_option("--image", options->image, "Programs of an imported root file system; see skerry image --help")
      ->option_text("NAME");
  AddLimits(*create, *options);
  create->add_option("--env", options->environment, "A variable for what runs in it; may be repeated")
      ->option_text("NAME=VALUE")
      ->allow_extra_args(false);
  create->add_option("--label,--metadata", options->metadata, "Something to find it by; may be repeated")
      ->option_text("KEY=VALUE")
      ->allow_extra_args(false);
  create->add_option("--from", options->source, "Refused: the daemon has sandbox.workspace.source")
      ->option_text("DIR")
      ->group("");
  create->add_flag("--json", options->json, "Print JSON");
  create->footer(
      "What is not said is as the configuration of the daemon says.\n\n"
      "Examples:\n"
      "  skerry session create work\n"
      "  skerry session create --memory 1024 --ttl 3600 --label owner=ci --env LANG=C.UTF-8");
  create->callback([options, group] {
    const auto done = Create(group.context, *options);
    group.exit_code = done ? *done : ReportError(done.error());
  });
}

}  // namespace skerry::cli
