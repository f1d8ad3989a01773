// AssessmentMemory: what was found in contents that were assessed before. An analysis is pure, so a package that lies
// in a workspace need not be analysed again for each run.
#pragma once

#include <cstddef>
#include <list>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/execution.hpp"
#include "core/risk.hpp"
#include "policy/code_reference.hpp"

namespace skerry::engine {

struct RememberedAssessment {
  core::RiskAssessment risk;
  std::vector<policy::CodeReference> references;
};

// For one policy. Thread-safe. The entry that was used longest ago goes first.
class AssessmentMemory {
 public:
  static constexpr std::size_t kMostBytes = std::size_t{16} << 20U;

  // The tenant is part of the key, so that the time of an answer does not tell a tenant what code others have.
  static std::string KeyOf(const std::string& tenant, core::Language language, std::string_view code);

  explicit AssessmentMemory(std::size_t most_bytes = kMostBytes) : most_bytes_(most_bytes) {}

  [[nodiscard]] std::optional<RememberedAssessment> Find(const std::string& key);
  void Keep(const std::string& key, RememberedAssessment assessment);

 private:
  struct Entry {
    std::string key;
    RememberedAssessment assessment;
    std::size_t bytes = 0;
  };
  using Entries = std::list<Entry>;

  const std::size_t most_bytes_;
  std::mutex mutex_;
  Entries entries_;  // the last used first
  std::map<std::string, Entries::iterator> by_key_;
  std::size_t bytes_ = 0;
};

}  // namespace skerry::engine
