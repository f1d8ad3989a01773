// What every command gets.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/app.hpp"
#include "config/load.hpp"

namespace CLI {
class App;
}

namespace skerry::cli {

// Given by main and by the options that stand before the command.
class Context {
 public:
  explicit Context(const Parts& parts) : parts_(parts) {}

  std::optional<std::string> config_path;

  // Defaults, file, variables, then `overrides`.
  [[nodiscard]] base::Result<config::Loaded> LoadConfig(std::vector<config::Override> overrides = {}) const;
  [[nodiscard]] base::Result<std::unique_ptr<core::BackendRegistry>> Backends() const {
    return parts_.make_backends(Warmth::kCold);
  }
  // For those who run many programs.
  [[nodiscard]] base::Result<std::unique_ptr<core::BackendRegistry>> WarmBackends() const {
    return parts_.make_backends(Warmth::kWarm);
  }
  // The record of sessions; made where it is missing.
  [[nodiscard]] base::Result<std::unique_ptr<core::RecordStore>> Store(const std::string& path) const {
    return parts_.open_store(path);
  }
  // What a daemon keeps; in the same file.
  [[nodiscard]] base::Result<std::unique_ptr<core::ServiceStore>> ServiceStore(const std::string& path) const {
    return parts_.open_service_store(path);
  }
  // The home directory, or "" when there is none.
  [[nodiscard]] static std::string Home();

 private:
  const Parts& parts_;
};

// Each command adds itself; its action leaves the exit code in `exit_code`.
void AddRunCommand(CLI::App& app, const Context& context, int& exit_code);
void AddRiskCommand(CLI::App& app, const Context& context, int& exit_code);
void AddContextCommand(CLI::App& app, const Context& context, int& exit_code);
void AddContextKeeperCommand(CLI::App& app, const Context& context, int& exit_code);
void AddSessionCommand(CLI::App& app, const Context& context, int& exit_code);
void AddFsCommand(CLI::App& app, const Context& context, int& exit_code);
void AddHistoryCommand(CLI::App& app, const Context& context, int& exit_code);
void AddExecCommand(CLI::App& app, const Context& context, int& exit_code);
void AddTokenCommand(CLI::App& app, const Context& context, int& exit_code);
void AddApprovalsCommand(CLI::App& app, const Context& context, int& exit_code);
void AddTopCommand(CLI::App& app, const Context& context, int& exit_code);
void AddAuditCommand(CLI::App& app, const Context& context, int& exit_code);
void AddServeCommand(CLI::App& app, const Context& context, int& exit_code);
void AddDoctorCommand(CLI::App& app, const Context& context, int& exit_code);
void AddBenchCommand(CLI::App& app, const Context& context, int& exit_code);
void AddBackendsCommand(CLI::App& app, const Context& context, int& exit_code);
void AddConfigCommand(CLI::App& app, const Context& context, int& exit_code);
void AddImageCommand(CLI::App& app, int& exit_code);
void AddCompletionCommand(CLI::App& app, const Context& context, int& exit_code);
void AddManCommand(CLI::App& app, int& exit_code);
void AddVersionCommand(CLI::App& app, int& exit_code);

}  // namespace skerry::cli
