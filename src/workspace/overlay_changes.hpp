// What a program changed, read from the upper layer of the overlay that it worked in.
#pragma once

#include <sys/types.h>
#include <time.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/result.hpp"

namespace skerry::workspace {

enum class ChangeKind {
  kFile,
  kDirectory,
  kLink,
  kDeletion,
  kOther,  // never written: a fifo, a socket, a device, what cannot be read
};

struct Change {
  std::string path;  // relative, bytes as they are
  ChangeKind kind = ChangeKind::kFile;
  mode_t mode = 0;  // as stat(2) gives it; when rules are asked for a deletion, of the file that would be deleted
  std::uint64_t size = 0;  // of a file, holes included
  std::string target;      // of a link
  std::string obstacle;    // of kOther: why it is never written
  bool opaque = false;     // a directory: what the lower layer has in it is gone
  std::uint64_t inode = 0;
  timespec changed{};   // when it was last changed, as the kernel keeps it
  timespec accessed{};  // when it was last read or mapped, likewise
};

struct WalkLimits {
  std::size_t max_entries = 200'000;
  std::size_t max_depth = 1900;  // of a tree that lies deeper only the topmost directory is named
  std::size_t max_path_bytes = std::size_t{32} << 20U;  // of all paths and targets together
};

struct OverlayChanges {
  std::vector<Change> changes;  // in the order of PathBefore: a directory, then all that is below it
  bool complete = true;         // false: the limits cut the list
};

// Reads an upper layer that was mounted with `userxattr`, without redirects and without metacopy; an entry that carries
// marks of those is kOther. `upper` is borrowed. No link is followed. Directories that their owner locked are unlocked.
// Nothing may write to the layer meanwhile.
base::Result<OverlayChanges> ReadOverlayChanges(int upper, const WalkLimits& limits);

// What a layer cannot say by itself that was put together from what a sandbox elsewhere told (ReceivedLayer).
struct LayerMarks {
  std::vector<std::string> deleted;  // paths
  std::vector<std::string> opaque;   // directories of the layer that have taken the place of something else
};
void AddMarks(const LayerMarks& marks, OverlayChanges& found);

// The files in a directory that will be removed and not committed: everything but directories, sorted.
struct FileList {
  std::vector<std::string> files;
  bool complete = true;  // false: the limits cut the list, or a directory could not be read
};
base::Result<FileList> ListFiles(int directory, const WalkLimits& limits);

}  // namespace skerry::workspace
