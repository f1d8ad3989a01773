// A file, directory or link that is made beside its place under another name, and then moved into it at once.
#pragma once

#include <sys/types.h>
#include <time.h>

#include <cstdint>
#include <string>

#include "base/result.hpp"
#include "workspace/beneath.hpp"

namespace skerry::workspace {

// Removes itself from the directory, unless it was moved.
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
  };
  // Each lies in the directory of `place`, which has to outlive it. As root they belong to the owner of what they
  // replace, or of the directory. The time of change of a file is that of its source.
  static base::Result<PreparedEntry> File(const Place& place, const FileSource& source);
  static base::Result<PreparedEntry> Directory(const Place& place, mode_t mode);
  static base::Result<PreparedEntry> Link(const Place& place, const std::string& target);

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }  // written, of a file

  // Takes the place, in which there is no directory.
  base::Status MoveTo(const Place& place);

 private:
  explicit PreparedEntry(int parent);

  int parent_;
  std::string name_;
  std::uint64_t bytes_ = 0;
};

}  // namespace skerry::workspace
