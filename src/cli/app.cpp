#include "cli/app.hpp"

#include <pwd.h>
#include <unistd.h>

#include <cstdlib>

#include "cli/command.hpp"
#include "cli/command_parser.hpp"
#include "core/backend_registry.hpp"
#include "core/record.hpp"
#include "core/service_store.hpp"

namespace skerry::cli {
namespace {

std::vector<std::string> Environment() {
  std::vector<std::string> entries;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) entries.emplace_back(*entry);
  return entries;
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

base::Result<std::unique_ptr<core::BackendRegistry>> Context::Backends(const config::Sandbox& settings,
                                                                       Warmth warmth) const {
  return parts_.make_backends(warmth, settings);
}

base::Result<std::unique_ptr<core::RecordStore>> Context::Store(const std::string& path) const {
  return parts_.open_store(path);
}

base::Result<std::unique_ptr<core::ServiceStore>> Context::ServiceStore(const std::string& path) const {
  return parts_.open_service_store(path);
}

int RunApp(int argc, const char* const* argv, const Parts& parts) {
  Context context(parts);
  Command root;
  root = {.name = "skerry",
          .description = "Skerry runs what AI agents write: isolated, limited, and gone afterwards.",
          .options = {{.names = "--config",
                       .value = Value::File(),
                       .description = "Configuration file instead of ~/.skerry/config.json",
                       .to = &context.config_path}},
          .commands = {RunCommand(context),    RiskCommand(context),     ContextCommand(context),
                       ServeCommand(context),  SessionCommand(context),  ExecCommand(context),
                       FsCommand(context),     HistoryCommand(context),  ApprovalsCommand(context),
                       TopCommand(context),    TokenCommand(context),    AuditCommand(context),
                       DoctorCommand(context), BackendsCommand(context), ConfigCommand(context),
                       BenchCommand(context),  ImageCommand(),           CompletionCommand(context, root),
                       ManCommand(root),       VersionCommand()}};
  return RunCommandLine(root, argc, argv);
}

}  // namespace skerry::cli
