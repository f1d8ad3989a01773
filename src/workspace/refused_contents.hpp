// What a commit refuses to carry over may be the moved content of something that it would delete or replace.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "workspace/beneath.hpp"
#include "workspace/overlay_changes.hpp"

namespace skerry::workspace {

struct Layers;

class RefusedContents {
 public:
  RefusedContents() = default;
  // Asks the rules for everything that would be written.
  RefusedContents(const Layers& layers, const OverlayChanges& found);

  // The refused path that has the content of the file at `place`, or "". Files without content are lost to nobody.
  [[nodiscard]] std::string HolderOf(const Layers& layers, const std::string& path, const Place& place) const;

 private:
  std::map<std::uint64_t, std::vector<std::string>> by_size_;
};

}  // namespace skerry::workspace
