// The workspace of a sandbox, from outside: the changes that programs made, files into it and out of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "base/byte_source.hpp"
#include "base/deadline.hpp"
#include "base/result.hpp"

namespace skerry::core {

// One entry of a workspace. No field is trusted: a program may have made the entry.
struct FileState {
  enum class Kind { kFile, kDirectory, kLink, kOther };
  Kind kind = Kind::kFile;
  std::uint64_t size = 0;  // of a file
  std::uint32_t mode = 0;  // permissions
  // Differs whenever the content may differ: a digest, or times and numbers that no program can set.
  std::string version;

  bool operator==(const FileState&) const = default;
};

// A state of a workspace, to compare a later one with: every entry by its path, which is relative and any bytes.
using FileMark = std::map<std::string, FileState>;

struct FilesChanged {
  std::vector<std::string> changed;  // new or different, sorted: a directory before what is in it
  std::vector<std::string> removed;  // sorted; of a directory that is gone also what was in it
  FileMark now;
};
// What changed between two marks.
[[nodiscard]] FilesChanged Compare(const FileMark& before, FileMark now);

// A workspace on the same machine, for callers that need more than SandboxFiles offers.
struct LocalView {
  int changes = -1;  // an open directory: the upper layer of an overlay, or the whole workspace
  int merged = -1;   // the workspace as commands see it
  int root = -1;     // the root as commands see it, as a path only; empty when the sandbox is gone. -1: not available
  bool layered = false;
};

// The files of one started sandbox. Used by one thread at a time, also while programs run: a change that they make
// meanwhile is seen then or the next time. kUnavailable when the sandbox or the connection to it is lost, kTimeout at
// the deadline or when `stop` is requested; the operation may then be done in part.
class SandboxFiles {
 public:
  SandboxFiles() = default;
  SandboxFiles(const SandboxFiles&) = delete;
  SandboxFiles& operator=(const SandboxFiles&) = delete;
  virtual ~SandboxFiles() = default;

  // The state of every entry. kTooLarge when there is more than a workspace may hold.
  virtual base::Result<FileMark> Mark(base::Deadline deadline, const std::stop_token& stop) = 0;
  virtual base::Result<FilesChanged> ChangesSince(const FileMark& mark, base::Deadline deadline,
                                                  const std::stop_token& stop);

  // Unpacks a tar archive: its entries replace those that are there, also entries of another kind. The files belong to
  // the programs of the sandbox.
  virtual base::Status Import(base::ByteSource& tar, base::Deadline deadline, const std::stop_token& stop) = 0;
  // A tar archive of these entries, each by itself: a directory without its content. Entries that are gone meanwhile
  // are left out. The source lives no longer than the sandbox.
  virtual base::Result<std::unique_ptr<base::ByteSource>> Export(std::span<const std::string> paths,
                                                                 base::Deadline deadline,
                                                                 const std::stop_token& stop) = 0;
  // Removes entries, directories with all that is in them. A path that is not there is no error.
  virtual base::Status Remove(std::span<const std::string> paths, base::Deadline deadline,
                              const std::stop_token& stop) = 0;
  // Up to `length` bytes of a file from `offset`; fewer only at its end. kNotFound.
  virtual base::Result<std::string> Read(const std::string& path, std::uint64_t offset, std::size_t length,
                                         base::Deadline deadline, const std::stop_token& stop) = 0;

  // Nothing where the workspace is on another machine, or programs write to a directory that a caller gave. Valid until
  // the sandbox is started again or destroyed, also when it is stopped.
  [[nodiscard]] virtual std::optional<LocalView> Local() const { return std::nullopt; }
};

}  // namespace skerry::core
