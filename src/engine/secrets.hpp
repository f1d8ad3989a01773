// Secrets: values that programs find in their environment and that nobody reads back.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/result.hpp"

namespace skerry::engine {

// Where the value of a secret is read from, whenever it is needed.
struct SecretSource {
  enum class Kind { kFile, kVariable };  // a file, without the line end behind the value; a variable of this process
  Kind kind = Kind::kFile;
  std::string from;
  std::vector<std::string> tenants;  // that may use it; none: only the owner of this machine
};

// The secrets of the configuration, by name.
class Secrets {
 public:
  Secrets() = default;
  explicit Secrets(std::map<std::string, SecretSource> sources) : sources_(std::move(sources)) {}

  // `tenant` is "" for the command line. kNotFound also for the secret of another tenant.
  [[nodiscard]] base::Result<std::string> Read(const std::string& name, const std::string& tenant) const;

 private:
  std::map<std::string, SecretSource> sources_;
};

using Environment = std::map<std::string, std::string>;

// An environment as programs find it, and those of its values that nobody may see.
struct ResolvedEnvironment {
  Environment values;
  std::vector<std::string> secrets;
};

// Puts the value of the secret NAME in the place of "secret:NAME". `secret` are the names of further variables whose
// values are secrets.
base::Result<ResolvedEnvironment> Resolve(const Environment& environment, const std::set<std::string>& secret,
                                          const Secrets& secrets, const std::string& tenant);

}  // namespace skerry::engine
