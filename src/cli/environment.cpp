#include "cli/environment.hpp"

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <utility>

#include <nlohmann/json.hpp>

#include "base/printable.hpp"
#include "cli/assignments.hpp"
#include "cli/daemon_client.hpp"
#include "config/config.hpp"
#include "os/files.hpp"

namespace skerry::cli {
namespace {

constexpr std::size_t kMostBytes = std::size_t{1} << 20U;

std::string_view Trimmed(std::string_view text) {
  constexpr std::string_view kBlank = " \t\r";
  const std::size_t begin = text.find_first_not_of(kBlank);
  if (begin == std::string_view::npos) return "";
  return text.substr(begin, text.find_last_not_of(kBlank) + 1 - begin);
}

std::vector<std::string> Split(std::string_view text, char between) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(between), text.size());
    if (end != 0) parts.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return parts;
}

// In double quotes a backslash stands before a quote, a dollar or another backslash. Nothing is where the quotes are
// wrong.
std::optional<std::string> Unquoted(std::string_view value) {
  if (value.empty() || (value.front() != '"' && value.front() != '\'')) return std::string(value);
  const char quote = value.front();
  std::string plain;
  for (std::size_t at = 1; at < value.size(); ++at) {
    if (value[at] == quote) {
      const std::string_view behind = Trimmed(value.substr(at + 1));
      if (behind.empty() || behind.starts_with('#')) return plain;
      return std::nullopt;
    }
    const bool escapes = quote == '"' && value[at] == '\\' && at + 1 < value.size() &&
                         std::string_view("\"\\$`").contains(value[at + 1]);
    plain += value[escapes ? ++at : at];
  }
  return std::nullopt;
}

}  // namespace

void AddOptions(std::vector<Option>& options, EnvironmentOptions& into) {
  options.push_back({.names = "-e,--env",
                     .value = Value::Text("NAME=VALUE"),
                     .description = "A variable for it; secret:NAME as the value is a secret of the configuration; may "
                                    "be repeated",
                     .to = &into.assignments});
  options.push_back({.names = "--env-file",
                     .value = Value::File(),
                     .description = "Variables from FILE, a line each, whose values are masked in what it prints",
                     .to = &into.files});
}

base::Result<std::map<std::string, std::string>> ParseEnvironmentFile(std::string_view text, const std::string& name) {
  std::map<std::string, std::string> variables;
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::size_t end = text.find('\n');
    std::string_view line = Trimmed(text.substr(0, end));
    text = end == std::string_view::npos ? "" : text.substr(end + 1);
    if (line.starts_with("export ")) line = Trimmed(line.substr(7));
    if (line.empty() || line.starts_with('#')) continue;
    const std::size_t sign = line.find('=');
    const std::string variable(Trimmed(line.substr(0, sign)));
    std::optional<std::string> value;
    if (sign != std::string_view::npos) {
      value = Unquoted(Trimmed(line.substr(sign + 1)));
      // NOLINTNEXTLINE(concurrency-mt-unsafe): nothing here changes the environment.
    } else if (const char* own = std::getenv(variable.c_str()); own != nullptr) {
      value = own;
    }
    // The line may hold a secret: it is not shown.
    if (variable.empty() || !value)
      return base::Err(base::Code::kInvalidArgument,
                       name + ", line " + std::to_string(number) +
                           ": is neither NAME=VALUE nor the name of a variable that is set here");
    variables[variable] = *std::move(value);
  }
  return variables;
}

base::Result<GivenEnvironment> ReadEnvironment(const EnvironmentOptions& options) {
  GivenEnvironment given;
  for (const std::string& file : options.files) {
    auto text = os::ReadFile(file, kMostBytes);
    if (!text) return base::Err(text.error().code, "--env-file: " + text.error().message);
    SKERRY_ASSIGN_OR_RETURN(const auto variables, ParseEnvironmentFile(*text, base::Printable(file)));
    for (const auto& [name, value] : variables) given.secrets[name] = value;
  }
  SKERRY_ASSIGN_OR_RETURN(const auto assigned, AssignmentsToJson(options.assignments, "--env"));
  given.values = assigned.get<std::map<std::string, std::string>>();
  for (const auto& [name, value] : given.values) given.secrets.erase(name);
  return given;
}

std::map<std::string, std::string> VariablesOf(const std::vector<std::string>& rows) {
  std::map<std::string, std::string> variables;
  for (const std::string& row : rows) {
    const std::size_t sign = row.find('=');
    variables[row.substr(0, sign)] = row.substr(sign + 1);
  }
  return variables;
}

engine::Secrets SecretsOf(const std::vector<std::string>& rows, const std::string& home) {
  constexpr std::string_view kTenants = " tenants=";
  constexpr std::string_view kFile = "file:";
  std::map<std::string, engine::SecretSource> sources;
  for (const std::string& row : rows) {
    const std::size_t sign = row.find('=');
    std::string from = row.substr(sign + 1);
    engine::SecretSource source;
    if (const std::size_t at = from.find(kTenants); at != std::string::npos) {
      source.tenants = Split(from.substr(at + kTenants.size()), ',');
      from.resize(at);
    }
    const bool file = from.starts_with(kFile);
    source.kind = file ? engine::SecretSource::Kind::kFile : engine::SecretSource::Kind::kVariable;
    from.erase(0, from.find(':') + 1);
    source.from = file ? config::ExpandHome(from, home) : from;
    sources[row.substr(0, sign)] = std::move(source);
  }
  return engine::Secrets(std::move(sources));
}

base::Status AddEnvironment(const EnvironmentOptions& options, nlohmann::ordered_json& body) {
  SKERRY_ASSIGN_OR_RETURN(const GivenEnvironment given, ReadEnvironment(options));
  if (!given.values.empty()) body["environment"] = given.values;
  for (const auto& [name, value] : given.secrets) SKERRY_RETURN_IF_ERROR(CheckIsText(value, "--env-file"));
  if (!given.secrets.empty()) body["secrets"] = given.secrets;
  return {};
}

}  // namespace skerry::cli
