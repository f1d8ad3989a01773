// What commits have seen of an upper layer that programs go on writing to.
#pragma once

#include <time.h>

#include <cstdint>
#include <map>
#include <string>

#include "workspace/overlay_changes.hpp"

namespace skerry::workspace {

class LayerMemory {
 public:
  // What is new since the last time: entries that are as they were are dropped. Those that were there and are not any
  // more are added as deletions: in a directory that the layer had first, and the lower one got by a commit, the kernel
  // removes a name without leaving a mark.
  void Compare(OverlayChanges& found);

 private:
  struct Seen {
    ChangeKind kind;
    mode_t mode;
    std::uint64_t size;
    timespec changed;
  };
  std::map<std::string, Seen> seen_;
};

}  // namespace skerry::workspace
