// skerry top: what sandboxes use, as it changes.
#include <unistd.h>

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <CLI/CLI.hpp>
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

void AddTopCommand(CLI::App& app, const Context& context, int& exit_code) {
  auto options = std::make_shared<TopCommandOptions>();
  CLI::App* top = app.add_subcommand("top", "Show what sandboxes use, as it changes");
  top->add_option("--session", options->session, "Only that of this session")->option_text("SESSION");
  top->add_option("--sort", options->sort, "By cpu (the default), memory, pids, disk, network or age")
      ->option_text("KEY");
  top->add_option("--interval", options->interval, "Seconds between two looks (1)")
      ->check(CLI::Range(0.1, 3600.0))
      ->option_text("SECONDS");
  top->add_flag("--once", options->once, "Print the table once, and end");
  top->add_flag("--json", options->json, "Print an array of objects once, and end");
  top->footer(
      "Keys: c m p d n a sort, arrows or j k select, Enter tells more, K ends what runs in the selected one, q quits, "
      "? helps.\n"
      "Without a terminal the table is printed once.\n\n"
      "Examples:\n"
      "  skerry top --sort memory\n"
      "  skerry top --json | jq '.[] | select(.usage.cpu_percent > 80) | .session_id'");
  top->callback([options, &context, &exit_code] {
    exit_code = Conclude(Top(context, *options), options->json ? Form::kJson : Form::kText);
  });
}

}  // namespace skerry::cli
