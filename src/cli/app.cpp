#include "cli/app.hpp"

#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include <CLI/CLI.hpp>

#include "cli/command.hpp"
#include "cli/terminal.hpp"

namespace skerry::cli {
namespace {

std::vector<std::string> Environment() {
  std::vector<std::string> entries;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) entries.emplace_back(*entry);
  return entries;
}

// CLI11 says several lines; people get one, and where to read more.
int ReportUsageError(const CLI::App& app, const CLI::ParseError& error) {
  std::string message = error.what();
  message = message.substr(0, message.find('\n'));
  const auto used = app.get_subcommands();
  const std::string command = used.empty() ? "" : " " + used.front()->get_name();
  return ReportError({base::Code::kInvalidArgument, message + "; see skerry" + command + " --help"});
}

}  // namespace

std::string Context::Home() {
  const char* home = std::getenv("HOME");
  if (home != nullptr && *home != '\0') return home;
  const passwd* entry = ::getpwuid(::getuid());
  return entry == nullptr ? "" : entry->pw_dir;
}

base::Result<config::Loaded> Context::LoadConfig(std::vector<config::Override> overrides) const {
  return config::Load(
      {.config_path = config_path, .home = Home(), .environment = Environment(), .overrides = std::move(overrides)});
}

int RunApp(int argc, const char* const* argv, const Parts& parts) {
  CLI::App app{"Skerry runs what AI agents write: isolated, limited, and gone afterwards."};
  app.name("skerry");
  app.require_subcommand(1);
  Context context(parts);
  app.add_option("--config", context.config_path, "Configuration file instead of ~/.skerry/config.json")
      ->option_text("FILE");
  int exit_code = 0;
  AddRunCommand(app, context, exit_code);
  AddRiskCommand(app, context, exit_code);
  AddContextCommand(app, context, exit_code);
  AddContextKeeperCommand(app, context, exit_code);
  AddServeCommand(app, context, exit_code);
  AddSessionCommand(app, context, exit_code);
  AddExecCommand(app, context, exit_code);
  AddFsCommand(app, context, exit_code);
  AddHistoryCommand(app, context, exit_code);
  AddApprovalsCommand(app, context, exit_code);
  AddTopCommand(app, context, exit_code);
  AddTokenCommand(app, context, exit_code);
  AddAuditCommand(app, context, exit_code);
  AddDoctorCommand(app, context, exit_code);
  AddBackendsCommand(app, context, exit_code);
  AddConfigCommand(app, context, exit_code);
  AddBenchCommand(app, context, exit_code);
  AddImageCommand(app, exit_code);
  AddCompletionCommand(app, context, exit_code);
  AddManCommand(app, exit_code);
  AddVersionCommand(app, exit_code);
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& help) {
    return app.exit(help);
  } catch (const CLI::ParseError& error) {
    return ReportUsageError(app, error);
  } catch (const std::exception& error) {
    // A library, or the standard one when not even a thread can be had.
    return ReportError({base::Code::kInternal, error.what()});
  }
  return exit_code;
}

}  // namespace skerry::cli
