// Removing from the lower layer, path by path; the rules are asked for each path.
#pragma once

#include <string>
#include <vector>

#include "workspace/layers.hpp"

namespace skerry::workspace {

struct RemovalPlan {
  struct Entry {
    std::string path;
    bool is_directory;
  };
  std::vector<Entry> going;       // in the order of PathBefore
  std::vector<Withheld> staying;  // with everything below them; the directories above them cannot be removed either
};

// Plans the removal of `top` and everything below it. Links are removed, not followed. Where nothing is, the plan is
// empty.
RemovalPlan PlanRemoval(const Layers& layers, const std::string& top);

// What the removal did.
struct Removed {
  std::vector<std::string> deleted;  // files and links
  std::vector<Withheld> withheld;    // paths that the plan let stay, and paths that could not be removed
};
Removed ExecuteRemoval(const Layers& layers, const RemovalPlan& plan);

}  // namespace skerry::workspace
