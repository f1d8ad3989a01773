// How a layer says that something of the layers below it is gone: an entry `.wh.name` hides `name`, `.wh..wh..opq`
// hides everything that lies in its directory.
#pragma once

#include <string>

#include "archive/entry_path.hpp"
#include "base/result.hpp"

namespace skerry::image {

enum class WhiteoutKind {
  kNone,     // an entry like any other
  kName,     // hides `target`
  kOpaque,   // hides all that is in `target.parent`
  kIgnored,  // bookkeeping of an old union file system: nothing to unpack
};

struct Whiteout {
  WhiteoutKind kind = WhiteoutKind::kNone;
  archive::EntryPath target;
};

// Fails like archive::ParseEntryPath, and when what is hidden has no name of its own.
base::Result<Whiteout> ParseWhiteout(std::string_view entry_path);

// Removes from the tree what the whiteout hides. Links on the way are not followed: a layer names the directories of
// its own tree, and a link that lies there now is one that the layer is about to replace. Nothing to remove is success.
base::Status ApplyWhiteout(int root_fd, const Whiteout& whiteout);

}  // namespace skerry::image
