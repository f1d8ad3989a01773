#include <memory>

#include <CLI/CLI.hpp>

#include "cli/command.hpp"
#include "cli/terminal.hpp"

namespace skerry::cli {

void AddVersionCommand(CLI::App& app, int& exit_code) {
  auto json = std::make_shared<bool>(false);
  CLI::App* version = app.add_subcommand("version", "Print the version");
  version->add_flag("--json", *json, "As an object");
  version->callback([=, &exit_code] {
    Print(*json ? "{\"version\":\"" SKERRY_VERSION "\"}\n" : "skerry " SKERRY_VERSION "\n");
    exit_code = 0;
  });
}

}  // namespace skerry::cli
