// What commits have seen of an upper layer that programs go on writing to.
//
// A store through a shared mapping changes a file, and need not change any of its times: on a tmpfs only the first
// store to a page does, and not even that one when the page was read before. So of a file whose times are as they were
// two more things are asked: whether it was read or mapped since (its time of access), and whether anybody could write
// to it when it was last looked at. Only then is it read, and its digest compared. Every mapping that can be stored to
// was made before the last look, and then it held the file open for writing, or after it, and then it left a time of
// access.
//
// The overlay must stamp every access (strictatime), and its programs must not be able to leave the stamp out (the
// seccomp filter refuses them O_NOATIME and the like). Skerry itself should read the layer without leaving a stamp
// (noatime), or files are read in vain.
#pragma once

#include <time.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "base/sha256.hpp"
#include "workspace/overlay_changes.hpp"

namespace skerry::workspace {

class LayerMemory {
 public:
  // Leaves in `found` what is new since the last comparison: entries that are as they were are dropped. Entries that
  // were there and are not any more are added as deletions: in a directory that the layer had first, and the lower one
  // got by a commit, the kernel removes a name without leaving a mark. `upper` is borrowed. At most every byte of the
  // layer is read, once.
  void Compare(int upper, OverlayChanges& found);

  // The next comparison reads every file.
  void ForgetAccesses();

 private:
  struct Content {
    std::optional<base::Sha256::Digest> digest;  // nothing when the file could not be read
    bool writers = true;                         // a program may have been able to write to it without a sign
  };
  // Times that are too new to tell a later change by are zero.
  struct Seen {
    ChangeKind kind;
    mode_t mode;
    std::uint64_t size;
    std::uint64_t inode;
    timespec changed;
    timespec accessed;
    Content content;  // of a file
  };
  class Look;

  std::map<std::string, Seen> seen_;
};

}  // namespace skerry::workspace
