// What was done in a session, and where a file of it comes from.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "core/record.hpp"

namespace skerry::core {

// Changes of one execution that a HistoryEntry has; the others are asked for by RecordStore::PageOfChanges.
inline constexpr std::size_t kMostChangesOfEntry = 1000;

// An execution with what it did to files and all files that it used.
struct HistoryEntry {
  ExecutionRecord execution;
  std::vector<FileChange> changes;
  std::uint64_t changes_total = 0;  // also counts changes that are not in `changes`
  std::vector<FileUse> uses;

  bool operator==(const HistoryEntry&) const = default;
};

struct HistoryRange {
  std::uint64_t after = 0;  // sequence number of the last execution that the caller knows
  std::size_t limit = 100;
};

// Executions in the order of their beginning.
base::Result<std::vector<HistoryEntry>> LoadHistory(RecordStore& store, const std::string& session,
                                                    const HistoryRange& range);

// A file that an execution used, and which state of the file that was; none when no execution had made it.
struct FileSource {
  FileUse use;
  std::optional<FileVersion> made;

  bool operator==(const FileSource&) const = default;
};

// A state of a file, the execution that made it, and the files that the execution used.
struct FileStep {
  FileVersion version;
  ExecutionRecord execution;
  std::vector<FileSource> sources;

  bool operator==(const FileStep&) const = default;
};

struct FileHistory {
  std::string path;
  std::vector<FileStep> versions;  // every state of the file, in order
  // The states of other files, and of this one, that `versions` were made from: directly, then by way of one more file,
  // and so on. Each state once, and none that is in `versions`.
  std::vector<FileStep> origins;
  bool cut = false;  // there are more origins than the bounds allow
};

struct FileHistoryBounds {
  std::size_t depth = 16;     // files between a state and an origin
  std::size_t origins = 500;  // in total
};

// kNotFound when the record knows nothing of the path.
base::Result<FileHistory> LoadFileHistory(RecordStore& store, const std::string& session, const std::string& path,
                                          const FileHistoryBounds& bounds = {});

}  // namespace skerry::core
