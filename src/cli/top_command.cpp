// skerry top: what sandboxes use, as it changes.
#include <unistd.h>

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <nlohmann/json.hpp>

#include "cli/command.hpp"
#include "cli/command_output.hpp"
#include "cli/daemon_client.hpp"
#include "cli/key_terminal.hpp"
#include "cli/raw_terminal.hpp"
#include "cli/top_screen.hpp"
#include "cli/top_view.hpp"
#include "cli/tty.hpp"

namespace skerry::cli {
namespace {

using Json = nlohmann::ordered_json;

struct TopCommandOptions {
  std::optional<std::string> session;
  std::string sort = "cpu";
  double interval = 1;
  bool once = false;
  bool json = false;
};

base::Result<int> PrintOnce(DaemonClient& daemon, const TopOptions& options) {
  constexpr std::uint64_t kWideEnough = 200;
  SKERRY_ASSIGN_OR_RETURN(const Json items, AskSandboxes(daemon, options.session));
  std::vector<SandboxReading> readings = ReadingsFrom(items);
  SortReadings(readings, options.sort);
  TopPage page{.sort = options.sort, .waiting = CountWaiting(daemon)};
  page.now = std::chrono::system_clock::now();
  page.size = {.rows = 0, .columns = ::isatty(STDOUT_FILENO) != 0 ? RawTerminal::Size().columns : kWideEnough};
  page.colour = ColoursFor(STDOUT_FILENO);
  page.letters = GraphLettersHere();
  std::string text;
  for (const std::string& row : TopRows(readings, page)) text += row + "\n";
  SKERRY_RETURN_IF_ERROR(WriteText(text));
  return 0;
}

base::Result<int> Top(const Context& context, const TopCommandOptions& wanted) {
  const auto sort = ParseTopSort(wanted.sort);
  if (!sort) return base::Err(base::Code::kInvalidArgument, "--sort: one of cpu, memory, pids, disk, network and age");
  const std::chrono::duration<double> interval(wanted.interval);
  const TopOptions options{.session = wanted.session,
                           .sort = *sort,
                           .interval = std::chrono::duration_cast<std::chrono::milliseconds>(interval)};
  SKERRY_ASSIGN_OR_RETURN(DaemonClient daemon, DaemonClient::Find(context));
  if (wanted.json) {
    SKERRY_ASSIGN_OR_RETURN(const Json items, AskSandboxes(daemon, options.session));
    SKERRY_RETURN_IF_ERROR(WriteJson(items));
    return 0;
  }
  if (wanted.once || !KeyTerminal::IsThere()) return PrintOnce(daemon, options);
  return TopScreen(std::move(daemon), options).Run();
}

}  // namespace

Command TopCommand(const Context& context) {
  auto options = std::make_shared<TopCommandOptions>();
  return {
      .name = "top",
      .description = "Show what sandboxes use, as it changes",
      .footer =
          "Keys: c m p d n a sort, arrows or j k select, Enter tells more, K ends what runs in the selected one, q "
          "quits, ? helps.\n"
          "Without a terminal the table is printed once.\n\n"
          "Examples:\n"
          "  skerry top --sort memory\n"
          "  skerry top --json | jq '.[] | select(.usage.cpu_percent > 80) | .session_id'",
      .options = {{.names = "--session",
                   .value = Value::Session(),
                   .description = "Only that of this session",
                   .to = &options->session},
                  {.names = "--sort",
                   .value = Value::OneOf("KEY", {"cpu", "memory", "pids", "disk", "network", "age"}),
                   .description = "By cpu (the default), memory, pids, disk, network or age",
                   .to = &options->sort},
                  {.names = "--interval",
                   .value = Value::Text("SECONDS"),
                   .description = "Seconds between two looks (1)",
                   .to = &options->interval,
                   .bounds = Range{.least = 0.1, .most = 3600.0}},
                  {.names = "--once", .description = "Print the table once, and end", .to = &options->once},
                  {.names = "--json", .description = "Print an array of objects once, and end", .to = &options->json}},
      .action = [=, &context] { return Top(context, *options); },
      .errors_as_json = &options->json};
}

}  // namespace skerry::cli
