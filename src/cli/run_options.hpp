// The options of `skerry run`, and what they mean for the engine.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "cli/code_source.hpp"
#include "cli/environment.hpp"
#include "config/load.hpp"
#include "engine/sandbox_manager.hpp"

namespace skerry::cli {

struct RunOptions {
  CodeSource source;
  // The line behind the code: the first of the code's arguments, and the rest of them, behind -- if the line has one.
  std::optional<std::string> argument;
  std::vector<std::string> rest;
  EnvironmentOptions environment;
  std::optional<std::string> language;
  std::optional<std::string> timeout;
  std::optional<std::string> memory;
  std::optional<std::string> max_output;
  std::string sandbox = std::string(core::kAutoSandbox);
  std::optional<std::string> mode;
  std::optional<std::string> workspace;
  std::optional<std::string> image;
  std::optional<std::string> cpu;
  std::optional<std::string> disk;
  std::vector<std::string> allow_read;
  std::vector<std::string> allow_write;
  std::vector<std::string> dangerously_allow;
  std::vector<std::string> allowed_domains;
  std::optional<std::string> context;
  std::optional<std::string> save_outputs;
  std::optional<std::string> session;
  std::optional<std::string> caused_by;
  bool dry_run = false;
  bool terminal = false;
  bool yes = false;
  bool raw = false;
  bool json = false;
};

// What the code finds as its arguments. They need the --: without it they could be code that was not quoted.
base::Result<std::vector<std::string>> ArgumentsOf(const RunOptions& options);

// Settings that the options override.
std::vector<config::Override> OverridesOf(const RunOptions& options);

// Without a service that asks: the command sets that.
base::Result<engine::ManagerOptions> ManagerOptionsOf(const RunOptions& options, const config::Sandbox& sandbox);

// Reads the code from its source. Refuses combinations that make no sense.
base::Result<core::ExecutionRequest> RequestOf(const RunOptions& options, const config::Sandbox& sandbox);

}  // namespace skerry::cli
