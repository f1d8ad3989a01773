// What an entry of an archive is.
#pragma once

namespace skerry::archive {

enum class EntryKind {
  kFile,
  kDirectory,
  kSymbolicLink,
  kHardLink,
  kSpecial,  // a device, a fifo
};

}  // namespace skerry::archive
