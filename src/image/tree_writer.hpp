// Puts the entries of an archive into a directory, and nowhere else.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "archive/entry_path.hpp"
#include "archive/tar_reader.hpp"
#include "base/result.hpp"
#include "image/import_budget.hpp"
#include "image/tree_directory.hpp"

namespace skerry::image {

struct TreeCounts {
  std::uint64_t entries = 0;  // files, directories and links that were put there
  std::uint64_t bytes = 0;    // content of files
  std::uint64_t skipped = 0;  // devices, fifos, sockets
};

// What is promised:
// - Nothing outside the directory is made, changed or followed. Links on the way to an entry are followed inside the
//   tree only; the entry itself never is: what stands in its place goes first.
// - Everything belongs to the calling user. Of the mode the nine permission bits are kept, whatever the umask; a
//   directory stays open and a file readable to its owner. Set-id bits, extended attributes, capabilities are dropped.
// - Times of change are kept. Devices, fifos and sockets are left out and counted.
// - A hard link leads to a regular file of the tree that is there already, or the archive is refused.
// The caller makes sure that nobody else can write to the directory meanwhile.
class TreeWriter {
 public:
  // Both are borrowed.
  TreeWriter(int root_fd, ImportBudget& budget) : root_fd_(root_fd), budget_(budget) {}

  // `content` is at the content of `entry`.
  base::Status Put(const archive::TarEntry& entry, archive::TarReader& content);

  [[nodiscard]] const TreeCounts& counts() const { return counts_; }

 private:
  base::Result<int> OpenParent(const std::string& path);
  base::Result<base::UniqueFd> MakeParents(const std::string& path);
  base::Status PutTop(const archive::TarEntry& entry);
  base::Status PutDirectory(int parent_fd, const std::string& name, const archive::TarEntry& entry);
  base::Status PutFile(int parent_fd, const std::string& name, const archive::TarEntry& entry,
                       archive::TarReader& content);
  base::Status PutSymbolicLink(int parent_fd, const std::string& name, const archive::TarEntry& entry);
  base::Status PutHardLink(int parent_fd, const std::string& name, const archive::TarEntry& entry);

  int root_fd_;
  ImportBudget& budget_;
  TreeCounts counts_;
  // The directory of the last entry stays open: the next one is mostly in the same.
  std::optional<TimedDirectory> parent_;
  std::string parent_path_;
};

}  // namespace skerry::image
