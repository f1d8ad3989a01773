// What every command gets, and the list of commands.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/app.hpp"
#include "cli/command_line.hpp"
#include "config/load.hpp"

namespace skerry::cli {

// Given by main and by the options that stand before the command.
class Context {
 public:
  explicit Context(const Parts& parts) : parts_(parts) {}

  std::optional<std::string> config_path;

  // Defaults, file, variables, then `overrides`.
  [[nodiscard]] base::Result<config::Loaded> LoadConfig(std::vector<config::Override> overrides = {}) const;
  // The backends of that configuration; warm for commands that run many programs.
  [[nodiscard]] base::Result<std::unique_ptr<core::BackendRegistry>> Backends(const config::Sandbox& settings,
                                                                              Warmth warmth = Warmth::kCold) const;
  [[nodiscard]] const std::vector<std::string>& BackendNames() const { return parts_.backend_names; }
  // The record of sessions; made where it is missing.
  [[nodiscard]] base::Result<std::unique_ptr<core::RecordStore>> Store(const std::string& path) const;
  // The store of a daemon; in the same file.
  [[nodiscard]] base::Result<std::unique_ptr<core::ServiceStore>> ServiceStore(const std::string& path) const;
  // The home directory, or "" when there is none.
  [[nodiscard]] static std::string Home();

 private:
  const Parts& parts_;
};

// Each command keeps the values of its options. The context, and `root` where there is one, have to outlive it.
Command RunCommand(const Context& context);
Command RiskCommand(const Context& context);
Command ContextCommand(const Context& context);
Command ServeCommand(const Context& context);
Command SessionCommand(const Context& context);
Command ExecCommand(const Context& context);
Command FsCommand(const Context& context);
Command HistoryCommand(const Context& context);
Command ApprovalsCommand(const Context& context);
Command TopCommand(const Context& context);
Command TokenCommand(const Context& context);
Command AuditCommand(const Context& context);
Command DoctorCommand(const Context& context);
Command BackendsCommand(const Context& context);
Command ConfigCommand(const Context& context);
Command BenchCommand(const Context& context);
Command ImageCommand();
// These describe all commands below `root`.
Command CompletionCommand(const Context& context, const Command& root);
Command ManCommand(const Command& root);
Command VersionCommand();

}  // namespace skerry::cli
