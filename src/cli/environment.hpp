// The environment that a person gives a program: --env and --env-file.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "base/result.hpp"
#include "cli/command_line.hpp"
#include "engine/secrets.hpp"

namespace skerry::cli {

struct EnvironmentOptions {
  std::vector<std::string> assignments;
  std::vector<std::string> files;
};

void AddOptions(std::vector<Option>& options, EnvironmentOptions& into);

struct GivenEnvironment {
  std::map<std::string, std::string> values;
  std::map<std::string, std::string> secrets;  // what files say; a name is in one of both
};

// An assignment counts more than a file, and a later file more than an earlier one.
base::Result<GivenEnvironment> ReadEnvironment(const EnvironmentOptions& options);

// Lines NAME=VALUE, also behind `export` and with the value in quotes; NAME alone has the value of this process's
// variable. Empty lines, and those that begin with #, say nothing.
base::Result<std::map<std::string, std::string>> ParseEnvironmentFile(std::string_view text, const std::string& name);

// The rows of sandbox.environment and sandbox.secrets.
std::map<std::string, std::string> VariablesOf(const std::vector<std::string>& rows);
engine::Secrets SecretsOf(const std::vector<std::string>& rows, const std::string& home);

// Adds the members `environment` and `secrets` of a request to the daemon.
base::Status AddEnvironment(const EnvironmentOptions& options, nlohmann::ordered_json& body);

}  // namespace skerry::cli
