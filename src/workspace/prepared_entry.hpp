// A file, directory or link that is made under another name, and then moved into its place at once.
#pragma once

#include <sys/stat.h>
#include <sys/types.h>

#include <cstdint>
#include <string>

#include "base/result.hpp"
#include "workspace/beneath.hpp"
#include "workspace/file_copy.hpp"

namespace skerry::workspace {

// The destructor removes the prepared entry, unless it was moved.
class PreparedEntry {
 public:
  PreparedEntry(PreparedEntry&& other) noexcept;
  PreparedEntry& operator=(PreparedEntry&&) = delete;
  PreparedEntry(const PreparedEntry&) = delete;
  PreparedEntry& operator=(const PreparedEntry&) = delete;
  ~PreparedEntry();

  struct FileSource {
    int fd;  // borrowed
    std::uint64_t size;
    mode_t mode;
    std::uint64_t limit;  // of bytes that may be written
    Hashing hashing = Hashing::kNone;
  };
  // Where the entry is made: as `name` in `directory`, which is borrowed and on the same file system as `place`.
  struct Site {
    const Place& place;
    int directory;
    std::string name;
  };
  // Made by root, entries belong to the owner of what they replace, or of the directory. A file has its source's time
  // of change.
  static base::Result<PreparedEntry> File(Site site, const FileSource& source);
  static base::Result<PreparedEntry> Directory(Site site, mode_t mode);
  static base::Result<PreparedEntry> Link(Site site, const std::string& target);

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] std::uint64_t bytes() const { return copied_.written; }       // of a file
  [[nodiscard]] const std::string& sha256() const { return copied_.sha256; }  // of a file, when hashing was asked for
  [[nodiscard]] const struct stat& facts() const { return facts_; }

  // Moves the entry to its place, in which there is no directory.
  base::Status MoveTo(const Place& place);

 private:
  explicit PreparedEntry(const Site& site) : parent_(site.directory), name_(site.name) {}
  base::Status TakeFacts(int fd);

  int parent_;
  std::string name_;
  Copied copied_;
  struct stat facts_{};
};

}  // namespace skerry::workspace
