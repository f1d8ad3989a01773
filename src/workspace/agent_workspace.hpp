// AgentWorkspace: all access to the files of a workspace from outside of a sandbox (S4.1 to S4.4).
//
// What a program inside planted there is never trusted: every path goes through Resolver, no link leads out, other file
// systems are not entered, and what is neither a regular file nor a directory is answered with an error at once.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "base/unique_fd.hpp"
#include "core/record.hpp"
#include "text/text_edit.hpp"
#include "workspace/resolver.hpp"
#include "workspace/usage.hpp"

namespace skerry::workspace {

enum class EntryKind { kFile, kDirectory, kLink, kOther };
std::string_view NameOf(EntryKind kind);

struct Entry {
  std::string path;  // relative to the workspace, "" is the workspace itself; bytes
  EntryKind kind = EntryKind::kFile;
  std::uint64_t size = 0;  // of a file
  std::uint32_t mode = 0;  // permissions
  core::TimePoint changed_at;
  std::string target;  // of a link
};

// Which page of a directory is listed, by name. Memory is bounded by `limit`, however many names there are.
struct ListOptions {
  std::string after;  // names behind this one; "" for the first page
  std::size_t limit = 1000;
};
struct Listing {
  std::vector<Entry> entries;
  std::string next;  // for `after`; "" when this was the last page
};

// Bytes from `offset`, at most `length`.
struct ByteRange {
  std::uint64_t offset = 0;
  std::optional<std::uint64_t> length;
};
// Lines from `first`, which is 1 at least, at most `count`.
struct LineRange {
  std::uint64_t first = 1;
  std::optional<std::uint64_t> count;
};
struct Lines {
  std::string text;  // with their ends
  std::uint64_t first = 1;
  std::uint64_t count = 0;
  bool more = false;  // there are lines behind them
};

// An open file, to be read piece by piece. It stays the same file whatever becomes of its name.
class FileReader {
 public:
  FileReader(base::UniqueFd fd, std::uint64_t size) : fd_(std::move(fd)), size_(size) {}

  // The size that the file had when it was opened.
  [[nodiscard]] std::uint64_t size() const { return size_; }
  [[nodiscard]] int fd() const { return fd_.get(); }
  // Up to `size` bytes at `offset`. Fewer only at the end of the file; so a file that became shorter shows.
  [[nodiscard]] base::Result<std::string> ReadAt(std::uint64_t offset, std::size_t size) const;

 private:
  base::UniqueFd fd_;
  std::uint64_t size_;
};

enum class Existing { kReplace, kKeep };  // kKeep: kConflict when something is there
enum class Parents { kMake, kNeed };      // directories above that are missing
enum class Depth { kOne, kAll };          // of what is deleted: an empty directory at most, or a tree

struct WriteOptions {
  Existing existing = Existing::kReplace;
  Parents parents = Parents::kMake;
  std::optional<std::uint32_t> mode;           // else that of the file it replaces, else 0644
  std::optional<std::string> expected_sha256;  // kConflict when the file there has another content, or is none
};

class AgentWorkspace;

// A file that is being written. Nobody sees it before Finish, and nothing is left of it without Finish. It must not
// outlive its workspace.
class FileWriter {
 public:
  FileWriter(FileWriter&&) noexcept;
  FileWriter& operator=(FileWriter&&) = delete;
  ~FileWriter();

  // Appends bytes. kTooLarge when the workspace may not grow so far.
  base::Status Write(std::string_view bytes);
  // Puts the file on disk and into its place in one step. Called once.
  base::Result<core::FileChange> Finish();

 private:
  friend class AgentWorkspace;
  struct State;
  explicit FileWriter(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

struct WorkspaceOptions {
  std::uint64_t max_bytes = std::uint64_t{1024} << 20U;
  std::uint64_t max_entries = 1'000'000;
  DiskRoomCheck room;  // asked besides max_bytes and max_entries
  Resolver::Way way = Resolver::Way::kKernel;
};

// Paths are as agents write them: "a/b", "/a/b" and "/workspace/a/b" are the same (MapPath). kPathTraversal for what
// leads out, kInvalidArgument for what cannot be a path, kNotFound, kConflict (is a directory, exists, changed
// meanwhile), kPermissionDenied, kTooLarge (quota, disk full). After an error the old content is there.
//
// Thread-safe. Writers of one file at the same time: the last one wins, whole.
class AgentWorkspace {
 public:
  // `root` is the workspace, opened for reading. `stage` is a directory of Skerry's own on the same file system where
  // files are prepared; without one (not valid) they are prepared beside their place under a name that List does not
  // show.
  AgentWorkspace(base::UniqueFd root, base::UniqueFd stage, const WorkspaceOptions& options);
  ~AgentWorkspace();

  [[nodiscard]] base::Result<FileReader> OpenFile(std::string_view path) const;
  // kTooLarge when there is more than `limit`.
  [[nodiscard]] base::Result<std::string> Read(std::string_view path, const ByteRange& range, std::size_t limit) const;
  [[nodiscard]] base::Result<Lines> ReadLines(std::string_view path, const LineRange& range, std::size_t limit) const;
  // What is at the path; of a link the link itself.
  [[nodiscard]] base::Result<Entry> Stat(std::string_view path) const;
  [[nodiscard]] base::Result<Listing> List(std::string_view path, const ListOptions& options) const;

  base::Result<FileWriter> BeginWrite(std::string_view path, const WriteOptions& options);
  base::Result<core::FileChange> Write(std::string_view path, std::string_view bytes, const WriteOptions& options = {});
  base::Result<core::FileChange> Append(std::string_view path, std::string_view bytes);

  struct Edited {
    std::optional<core::FileChange> change;  // nothing when the text stayed as it was
    text::EditReport report;
  };
  // Makes all text edits or none. kConflict when the file changes meanwhile, or has not the expected content.
  base::Result<Edited> Edit(std::string_view path, const std::vector<text::TextEdit>& edits,
                            const std::optional<std::string>& expected_sha256 = std::nullopt);

  // The following give every file that is different now, also those in a directory.
  using Changes = std::vector<core::FileChange>;
  base::Status MakeDirectory(std::string_view path, Parents parents);
  base::Result<Changes> Move(std::string_view from, std::string_view to, Existing existing);
  base::Result<Changes> Copy(std::string_view from, std::string_view to, Existing existing);
  base::Result<Changes> Delete(std::string_view path, Depth depth);
  // A link to `target`, which must not lead out of the workspace. For archives.
  base::Result<core::FileChange> MakeLink(std::string_view path, const std::string& target, Existing existing);

  // Every file and link of the workspace, as a record of it should have them. Sorted by path. Files that this process
  // may not read are left out; more bytes than a workspace can hold by far, all holes included, are kTooLarge.
  [[nodiscard]] base::Result<Changes> AllFiles() const;

  [[nodiscard]] base::Result<Usage> CurrentUsage() const;
  // To be called when files were changed in another way than through this object: the use is counted anew.
  void Recount();
  [[nodiscard]] const WorkspaceOptions& options() const { return options_; }
  [[nodiscard]] int root() const { return resolver_.root(); }
  [[nodiscard]] const Resolver& resolver() const { return resolver_; }

 private:
  friend class FileWriter;
  // Where a file for `place` is prepared: the stage, or without one the directory of the place.
  [[nodiscard]] int StageFor(const Place& place) const { return stage_.valid() ? stage_.get() : place.parent.get(); }
  // The bytes of files, holes included, that one call reads for their hashes.
  [[nodiscard]] std::uint64_t HashBudget() const;
  base::Status MakeDirectoryAt(std::string_view path, Parents parents);
  base::Result<Changes> DeleteOne(const Resolver::Located& located);
  base::Result<Changes> DeleteTree(const Resolver::Located& located);
  base::Result<core::FileChange> MakeLinkAt(std::string_view path, const std::string& target, Existing existing);
  base::Result<Changes> CopyTo(const Resolver::Located& from, const base::UniqueFd& fd, std::string_view to,
                               Existing existing);
  base::Result<core::FileChange> AppendOnce(std::string_view path, std::string_view bytes);
  base::Result<core::FileChange> AppendInPlace(const Resolver::Located& located, std::string_view bytes);
  base::Result<core::FileChange> AppendToCopy(std::string_view path, const Place& place, std::string_view bytes);

  WorkspaceOptions options_;
  Resolver resolver_;
  base::UniqueFd stage_;
  std::shared_ptr<UsageCount> usage_;
  std::shared_ptr<std::mutex> order_;  // of changes: between a look at what is there and its replacement
};

}  // namespace skerry::workspace
