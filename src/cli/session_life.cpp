// skerry session extend, pause, resume and stop.
#include <cstdint>
#include <memory>
#include <string>

#include <CLI/CLI.hpp>

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

}  // namespace

void AddSessionLife(const SessionGroup& group) {
  auto options = std::make_shared<LifeOptions>();
  const auto add = [&](const std::string& verb, const char* what) {
    CLI::App* command = group.app.add_subcommand(verb, what);
    command->add_option("session", options->name, "Its name")->option_text("SESSION")->required();
    command->add_flag("--json", options->json, "Print JSON");
    command->callback([options, group, verb] {
      const auto done = Change(group.context, *options, verb);
      group.exit_code = done ? *done : ReportError(done.error());
    });
    return command;
  };
  CLI::App* extend = add("extend", "Let it live longer: so many seconds from now on");
  extend->add_option("ttl", options->ttl, "Seconds from now, up to a year")->option_text("SECONDS")->required();
  extend->footer("Example:\n  skerry session extend work 86400");
  add("pause", "Stop its processes where they are; they use no CPU")->footer("Example:\n  skerry session pause work");
  add("resume", "Let its processes go on")->footer("Example:\n  skerry session resume work");
  add("stop", "End what runs and give its sandbox back now; the files stay")
      ->footer("Example:\n  skerry session stop work");
}

}  // namespace skerry::cli
