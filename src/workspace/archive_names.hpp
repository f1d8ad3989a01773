// The names in an archive that is to be unpacked into a workspace: whether they make a tree of files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>

#include "archive/archive_reader.hpp"
#include "base/result.hpp"

namespace skerry::workspace {

// Takes the entries in their order. Refused are: devices and fifos, what lies below a file or a link of the same
// archive, a file or link that is there twice, a hard link to anything but an earlier file, a name that Skerry uses
// itself. kTooLarge for more than `max_entries`, directories made by the way included, and for copies made of hard
// links beyond `max_bytes`.
class ArchiveNames {
 public:
  ArchiveNames(std::size_t max_entries, std::uint64_t max_bytes) : max_entries_(max_entries), max_bytes_(max_bytes) {}

  base::Status Add(const archive::ArchiveEntry& entry);

  // The size of a file in the archive.
  [[nodiscard]] std::uint64_t SizeOf(const std::string& path) const;
  [[nodiscard]] std::size_t count() const { return names_.size(); }
  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }

 private:
  struct Thing {
    archive::EntryKind kind = archive::EntryKind::kDirectory;
    std::uint64_t size = 0;
  };
  base::Status AddParents(const std::string& path);
  base::Status Put(const std::string& path, const Thing& thing);

  std::size_t max_entries_;
  std::uint64_t max_bytes_;
  std::unordered_map<std::string, Thing> names_;
  std::size_t name_bytes_ = 0;
  std::uint64_t bytes_ = 0;  // of all files, and of the copies made of hard links
};

}  // namespace skerry::workspace
