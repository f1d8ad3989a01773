// Load puts the configuration together: the schema's defaults, then the file, then variables, then flags.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "config/config.hpp"

namespace skerry::config {

inline constexpr const char* kDefaultFile = "~/.skerry/config.json";

// A flag of the command line that sets a key.
struct Override {
  std::string path;   // "sandbox.limits.timeout"
  std::string value;  // "5"; a list with commas or as a JSON array
  std::string flag;   // "--timeout", for messages
};

struct Sources {
  std::optional<std::string> config_path;  // --config: must exist; without it kDefaultFile, which may be missing
  std::string home;
  std::vector<std::string> environment;  // "NAME=value"
  std::vector<Override> overrides;
};

// One line of `skerry config show`.
struct Entry {
  std::string path;
  std::string value;   // JSON; a secret that is set is already masked here
  std::string origin;  // "default", "file ~/.skerry/config.json", "variable SKERRY_…", "flag --timeout"
  bool is_secret = false;
};

struct Loaded {
  Config config;
  std::vector<Entry> entries;  // every key once, in the order of the schema
};

// Every problem is kInvalidArgument with one printable line: "<file, variable or flag>: <key path>: <problem and what
// is allowed>".
base::Result<Loaded> Load(const Sources& sources);

}  // namespace skerry::config
