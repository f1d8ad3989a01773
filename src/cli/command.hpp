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
  explicit Context(const MakeBackends& make_backends) : make_backends_(make_backends) {}

  std::optional<std::string> config_path;

  // Defaults, file, variables, then `overrides`.
  [[nodiscard]] base::Result<config::Loaded> LoadConfig(std::vector<config::Override> overrides = {}) const;
  [[nodiscard]] base::Result<std::unique_ptr<core::BackendRegistry>> Backends() const {
    return make_backends_(Warmth::kCold);
  }
  // For those who run many programs.
  [[nodiscard]] base::Result<std::unique_ptr<core::BackendRegistry>> WarmBackends() const {
    return make_backends_(Warmth::kWarm);
  }
  // The home directory, or "" when there is none.
  [[nodiscard]] static std::string Home();

 private:
  const MakeBackends& make_backends_;
};

// Each command adds itself; its action leaves the exit code in `exit_code`.
void AddRunCommand(CLI::App& app, const Context& context, int& exit_code);
void AddRiskCommand(CLI::App& app, const Context& context, int& exit_code);
void AddContextCommand(CLI::App& app, const Context& context, int& exit_code);
void AddContextKeeperCommand(CLI::App& app, const Context& context, int& exit_code);
void AddDoctorCommand(CLI::App& app, const Context& context, int& exit_code);
void AddBenchCommand(CLI::App& app, const Context& context, int& exit_code);
void AddBackendsCommand(CLI::App& app, const Context& context, int& exit_code);
void AddConfigCommand(CLI::App& app, const Context& context, int& exit_code);
void AddImageCommand(CLI::App& app, int& exit_code);
void AddVersionCommand(CLI::App& app, int& exit_code);

}  // namespace skerry::cli
