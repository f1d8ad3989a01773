// skerry session extend, pause, resume and stop.
#include <cstdint>
#include <memory>
#include <string>

#include "cli/answer.hpp"
#include "cli/daemon_client.hpp"
#include "cli/session_parts.hpp"
#include "cli/terminal.hpp"

namespace skerry::cli {
namespace {

using Json = nlohmann::ordered_json;

struct LifeOptions {
  std::string name;
  std::uint64_t ttl = 0;
  bool json = false;
};

base::Result<int> Change(const Context& context, const LifeOptions& options, const std::string& verb) {
  SKERRY_ASSIGN_OR_RETURN(const std::string target, InSession(options.name, "/" + verb));
  SKERRY_ASSIGN_OR_RETURN(DaemonClient daemon, DaemonClient::Find(context));
  const Json body = verb == "extend" ? Json{{"ttl_seconds", options.ttl}} : Json(nullptr);
  SKERRY_ASSIGN_OR_RETURN(const Json session, daemon.Ask("POST", target, body));
  if (options.json) {
    PrintIndented(SessionForPeople(session));
  } else if (verb == "extend") {
    Print(options.name + " lives until " + TextIn(session, "expires_at") + "\n");
  } else {
    Print(options.name + " is " + TextIn(session, "state") + "\n");
  }
  return 0;
}

// What the commands have in common; each has its own options.
Command LifeCommand(const Context& context, const std::string& verb, const std::string& description,
                    const std::shared_ptr<LifeOptions>& options = std::make_shared<LifeOptions>()) {
  return {.name = verb,
          .description = description,
          .footer = "Example:\n  skerry session " + verb + " work",
          .arguments = {SessionNameArgument(options->name)},
          .options = {{.names = "--json", .description = "Print JSON", .to = &options->json}},
          .action = [=, &context] { return Change(context, *options, verb); }};
}

}  // namespace

Command SessionExtendCommand(const Context& context) {
  auto options = std::make_shared<LifeOptions>();
  Command extend = LifeCommand(context, "extend", "Let it live longer: so many seconds from now on", options);
  extend.footer += " 86400";
  extend.arguments.push_back({.name = "ttl",
                              .value = Value::Text("SECONDS"),
                              .description = "Seconds from now, up to a year",
                              .to = &options->ttl,
                              .need = Need::kRequired});
  return extend;
}

Command SessionPauseCommand(const Context& context) {
  return LifeCommand(context, "pause", "Stop its processes where they are; they use no CPU");
}

Command SessionResumeCommand(const Context& context) {
  return LifeCommand(context, "resume", "Let its processes go on");
}

Command SessionStopCommand(const Context& context) {
  return LifeCommand(context, "stop", "End what runs and give its sandbox back now; the files stay");
}

}  // namespace skerry::cli
