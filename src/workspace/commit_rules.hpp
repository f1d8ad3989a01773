// What may be carried from an overlay into the real directory, and how much of it.
#pragma once

#include <sys/stat.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "base/result.hpp"
#include "workspace/file_copy.hpp"
#include "workspace/link_check.hpp"
#include "workspace/overlay_changes.hpp"

namespace skerry::workspace {

// The contents before and after a change, for rules that look inside. They are read when asked for, and only of regular
// files: kNotFound where there is none, kTooLarge for more than `limit` bytes.
class ChangeContents {
 public:
  virtual ~ChangeContents() = default;
  [[nodiscard]] virtual base::Result<std::string> ReadNew(std::size_t limit) const = 0;
  [[nodiscard]] virtual base::Result<std::string> ReadOld(std::size_t limit) const = 0;
};

class CommitRules {
 public:
  virtual ~CommitRules() = default;

  // Called before the first question, and before anything is written, with all that the program changed.
  virtual void Begin(const OverlayChanges& /*found*/) {}

  // Empty: the change may be made. Else the reason for people why not. Called for everything that would be written and,
  // as kDeletion, for every single path that would be removed, a directory before what is in it. A refused directory
  // covers everything below it: nothing there is asked for any more.
  virtual std::string Refuses(const Change& change, const ChangeContents& contents) = 0;

  // Empty, or why a person should look at a file or link that has been written.
  [[nodiscard]] virtual std::string Tells(const Change& /*change*/) { return ""; }
};

// What max_total_bytes limits.
enum class Counting {
  kWritten,  // all that is written
  kGrowth,   // by how much the directory grows: what is replaced or deleted makes room
};

class LayerMemory;

// What becomes of the permissions of directories that are there already.
enum class DirectoryModes { kCarry, kKeep };

struct CommitLimits {
  WalkLimits walk;                                           // of the upper layer, and of one deleted tree
  std::uint64_t max_file_bytes = std::uint64_t{4} << 30U;    // of one file, holes included
  std::uint64_t max_total_bytes = std::uint64_t{16} << 30U;  // written, holes not counted
  mode_t mode_mask = ACCESSPERMS;  // the permissions that a program can give; what a file has it keeps
  LinkRule links = LinkRule::kPersons;
  DirectoryModes directory_modes = DirectoryModes::kCarry;
  Counting counting = Counting::kWritten;
  Hashing hashing = Hashing::kNone;  // kContent: CommitReport::changes has digests, and holes count as bytes

  // For a layer that programs go on using after the commit: what earlier commits have seen of it. Borrowed; none for a
  // layer that is committed once.
  LayerMemory* memory = nullptr;
  // Of a layer that has no marks of the kernel. Borrowed.
  const LayerMarks* marks = nullptr;

  // When the program started to work. Files that a person or another program changed in the directory later (by a tick
  // of the clock, at least) are neither replaced nor deleted. Without it the program's version wins.
  std::optional<std::chrono::system_clock::time_point> since;
};

struct Withheld {
  std::string path;
  std::string reason;
};

}  // namespace skerry::workspace
