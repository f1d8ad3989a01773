#include <memory>

#include <CLI/CLI.hpp>

#include "cli/command.hpp"
#include "cli/terminal.hpp"
#include "config/show.hpp"

namespace skerry::cli {

void AddConfigCommand(CLI::App& app, const Context& context, int& exit_code) {
  auto json = std::make_shared<bool>(false);
  CLI::App* config = app.add_subcommand("config", "Look at the configuration");
  config->require_subcommand(1);
  CLI::App* show = config->add_subcommand("show", "Print the effective configuration and where each value came from");
  show->add_flag("--json", *json, "As an object");
  show->callback([=, &context, &exit_code] {
    const auto loaded = context.LoadConfig();
    if (!loaded) {
      exit_code = ReportError(loaded.error());
      return;
    }
    Print(*json ? config::ShowJson(*loaded) + "\n" : config::ShowText(*loaded));
    exit_code = 0;
  });
}

}  // namespace skerry::cli
