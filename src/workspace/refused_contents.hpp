// A file that a commit refuses to carry over may be one of the person's that the program moved there. Then the person's
// file at the old place must not be deleted.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
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

  // Adds a link that turned out to lead where it may not.
  void AddLink(const Change& link) { by_target_.emplace(link.target, link.path); }

  // The refused path that the file or link at `place` may have been moved to, or "". The refused one has the same
  // content (files without any are lost to nobody), or leads where this link leads, or has the same name where the
  // rules refuse both: it may have been edited after the move.
  [[nodiscard]] std::string HolderOf(const Layers& layers, const std::string& path, const Place& place) const;

 private:
  void Add(const Change& change, std::string_view refused);
  [[nodiscard]] std::string WithContentOf(const Layers& layers, const std::string& path, const Place& place) const;
  [[nodiscard]] std::string WithTargetOf(const std::string& path, const Place& place) const;
  [[nodiscard]] std::string WithNameOf(const Layers& layers, const std::string& path, const Place& place) const;

  std::map<std::uint64_t, std::vector<std::string>> by_size_;  // files
  std::multimap<std::string, std::string> by_target_;          // links
  // Both, by their path from the name on that the rules refused: ".env", ".vscode/tasks.json".
  std::multimap<std::string, std::string, std::less<>> by_name_;
};

}  // namespace skerry::workspace
