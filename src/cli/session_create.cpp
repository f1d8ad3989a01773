// skerry session create.
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/answer.hpp"
#include "cli/assignments.hpp"
#include "cli/daemon_client.hpp"
#include "cli/environment.hpp"
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
  EnvironmentOptions environment;
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
  SKERRY_RETURN_IF_ERROR(AddEnvironment(options.environment, body));
  if (!options.metadata.empty()) {
    SKERRY_ASSIGN_OR_RETURN(body["metadata"], AssignmentsToJson(options.metadata, "--label"));
  }
  return body;
}

// A session with an image may take a while.
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

std::vector<Option> OptionsInto(CreateOptions& options, const std::vector<std::string>& backends) {
  std::vector<Option> all = {
      {.names = "--mode",
       .value = Value::OneOf("MODE", {"per-session", "shared", "disabled"}),
       .description = "per-session (a sandbox while it is in use), shared (one for all sessions), or disabled",
       .to = &options.mode},
      {.names = "--backend",
       .value = Value::OneOf("TYPE", backends),
       .description = "What isolates it; see skerry backends",
       .to = &options.backend},
      {.names = "--image",
       .value = Value::Text("NAME"),
       .description = "Programs of an imported root file system; see skerry image --help",
       .to = &options.image},
      {.names = "--memory",
       .value = Value::Text("MB"),
       .description = "Memory for all its processes together, from 16",
       .to = &options.memory},
      {.names = "--cpu",
       .value = Value::Text("PERCENT"),
       .description = "Share of the CPU in percent of one core; 0 is no limit",
       .to = &options.cpu},
      {.names = "--disk",
       .value = Value::Text("MB"),
       .description = "What may be written to its workspace",
       .to = &options.disk},
      {.names = "--pids",
       .value = Value::Text("N"),
       .description = "Processes and threads at once",
       .to = &options.pids},
      {.names = "--timeout",
       .value = Value::Text("SECONDS"),
       .description = "Of a run that asks for no other, 1 to 300",
       .to = &options.timeout},
      {.names = "--ttl",
       .value = Value::Text("SECONDS"),
       .description = "Until it is removed with its files",
       .to = &options.ttl},
      {.names = "--idle",
       .value = Value::Text("SECONDS"),
       .description = "Without a run, until its sandbox is given back",
       .to = &options.idle},
      {.names = "--label,--metadata",
       .value = Value::Text("KEY=VALUE"),
       .description = "Something to find it by; may be repeated",
       .to = &options.metadata},
      {.names = "--from",
       .value = Value::Directory(),
       .description = "Refused: the daemon has sandbox.workspace.source",
       .to = &options.source,
       .visibility = Visibility::kHidden},
      {.names = "--json", .description = "Print JSON", .to = &options.json}};
  AddOptions(all, options.environment);
  return all;
}

}  // namespace

Command SessionCreateCommand(const Context& context) {
  auto options = std::make_shared<CreateOptions>();
  return {.name = "create",
          .description = "Make a session; its name is printed",
          .footer =
              "What is not said is as the configuration of the daemon says.\n\n"
              "Examples:\n"
              "  skerry session create work\n"
              "  skerry session create --memory 1024 --ttl 3600 --label owner=ci --env LANG=C.UTF-8",
          .arguments = {{.name = "name",
                         .value = Value::Text("NAME"),
                         .description = "Its name; one is made up without",
                         .to = &options->name}},
          .options = OptionsInto(*options, context.BackendNames()),
          .action = [=, &context] { return Create(context, *options); }};
}

}  // namespace skerry::cli
