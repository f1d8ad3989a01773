// Going through a tree that a program may change meanwhile: at any depth with two descriptors and without recursion.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "base/unique_fd.hpp"
#include "workspace/mount_border.hpp"

namespace skerry::workspace {

// The prefix of the names of files that are being prepared beside their place. No listing shows them.
inline constexpr std::string_view kPrivatePrefix = ".skerry-stage-";
bool IsPrivateName(std::string_view name);

struct TreeEntry {
  int directory;            // the directory that holds the entry, borrowed
  const std::string& name;  // in that directory
  const std::string& path;  // relative to the top
  const Facts& facts;       // of a link itself
};

class TreeVisitor {
 public:
  TreeVisitor() = default;
  TreeVisitor(const TreeVisitor&) = delete;
  TreeVisitor& operator=(const TreeVisitor&) = delete;
  virtual ~TreeVisitor() = default;

  // Called for everything but directories. An error ends the walk.
  virtual base::Status Visit(const TreeEntry& entry) = 0;
  // Enter is called for a directory before what is in it, Leave when that is through. Neither is called for the top.
  virtual base::Status Enter(const TreeEntry& entry) = 0;
  virtual base::Status Leave() { return {}; }
};

struct WalkOptions {
  // What to do at mounts, and at directories that this process may not read: pass by, or end with an error that names
  // them.
  enum class Obstacle { kPass, kFail };
  Obstacle locked = Obstacle::kFail;
  Obstacle mounts = Obstacle::kFail;
  enum class Private { kPass, kShow };
  Private private_names = Private::kPass;
};

// `top` is a directory opened for reading; borrowed. No link is followed. What vanishes meanwhile is passed over; a
// directory with others in it that is moved meanwhile ends the walk with kConflict. Files come before the directories
// beside them.
base::Status WalkTree(int top, TreeVisitor& visitor, const WalkOptions& options);

// Opens the directory above, which must be `above`: kConflict when the directory was moved meanwhile.
base::Result<base::UniqueFd> OpenAbove(int directory, const Facts& above);

}  // namespace skerry::workspace
