// Removing from the lower layer, path by path, with each of them asked for.
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
  std::vector<Withheld> staying;  // with all that is below them; the directories above them cannot go either
};

// What is at `top` and below it. Links are removed, not followed. Where nothing is the plan is empty.
RemovalPlan PlanRemoval(const Layers& layers, const std::string& top);

// What came of a plan.
struct Removed {
  std::vector<std::string> deleted;  // files and links
  std::vector<Withheld> withheld;    // what the plan let stay, and what could not be removed
};
Removed ExecuteRemoval(const Layers& layers, const RemovalPlan& plan);

}  // namespace skerry::workspace
