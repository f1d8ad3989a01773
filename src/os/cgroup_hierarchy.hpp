// Where this process may make cgroups: version 1, version 2, both (hybrid) or nowhere.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace skerry::os {

enum class CgroupVersion { kOne, kTwo };

// A directory below which cgroups may be made, for one controller of version 1 or all of version 2.
struct CgroupMount {
  CgroupVersion version = CgroupVersion::kTwo;
  std::string top;  // where the hierarchy is mounted
  std::string directory;
  std::vector<std::string> controllers;

  [[nodiscard]] bool Has(std::string_view controller) const;
};

struct CgroupHierarchy {
  std::vector<CgroupMount> mounts;  // only those that this process may write to

  // The mount that limits `controller`, or nullptr.
  [[nodiscard]] const CgroupMount* Find(std::string_view controller) const;
  [[nodiscard]] const CgroupMount* Version2() const;

  // What is mounted, from the texts of /proc/self/mountinfo and /proc/self/cgroup; nothing is tried.
  static CgroupHierarchy Parse(std::string_view mountinfo, std::string_view own_groups);

  // Parse, then keep what can be written. On version 2 as root, controllers are handed down from the top.
  static CgroupHierarchy Detect();
};

}  // namespace skerry::os
