// Going through a tree that a program may change meanwhile: at any depth with two descriptors and without recursion.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "base/unique_fd.hpp"
#include "workspace/mount_border.hpp"

namespace skerry::workspace {

// Names of what is being prepared beside its place. Nobody is shown them.
inline constexpr std::string_view kPrivatePrefix = ".skerry-stage-";
bool IsPrivateName(std::string_view name);

struct TreeEntry {
  int directory;            // that holds it, borrowed
  const std::string& name;  // in there
  const std::string& path;  // relative to the top
  const Facts& facts;       // of a link itself
};

class TreeVisitor {
 public:
  TreeVisitor() = default;
  TreeVisitor(const TreeVisitor&) = delete;
  TreeVisitor& operator=(const TreeVisitor&) = delete;
  virtual ~TreeVisitor() = default;

  // Everything but directories. An error ends the walk.
  virtual base::Status Visit(const TreeEntry& entry) = 0;
  // A directory, before what is in it; and when that is through. The top is not told.
  virtual base::Status Enter(const TreeEntry& entry) = 0;
  virtual base::Status Leave() { return {}; }
};

struct WalkOptions {
  // Directories that we may not look into, and mounts: pass by, or end with an error that names them.
  enum class Obstacle { kPass, kFail };
  Obstacle locked = Obstacle::kFail;
  Obstacle mounts = Obstacle::kFail;
  enum class Private { kPass, kShow };
  Private private_names = Private::kPass;
};

// `top` is a directory opened for reading; borrowed. No link is followed. What vanishes meanwhile is passed over; a
// directory that is moved meanwhile ends the walk with kConflict. Files come before the directories beside them.
base::Status WalkTree(int top, TreeVisitor& visitor, const WalkOptions& options);

// Goes from a directory to the one above, which must be `above`: kConflict when it was moved meanwhile.
base::Result<base::UniqueFd> OpenAbove(int directory, const Facts& above);

}  // namespace skerry::workspace
