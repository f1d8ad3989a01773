// The record of a session: its executions, and what became of which file (S4.8, S10.3). The port that a store
// implements.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "core/execution.hpp"

namespace skerry::core {

using TimePoint = std::chrono::system_clock::time_point;

// Each NameOf gives one word; each Parse takes that word back, and nothing else.
enum class FileAction { kCreated, kChanged, kRemoved };
std::string_view NameOf(FileAction action);
std::optional<FileAction> ParseFileAction(std::string_view name);
enum class FileKind { kFile, kLink };
std::string_view NameOf(FileKind kind);
std::optional<FileKind> ParseFileKind(std::string_view name);

// One file or link that is different now. Directories are not recorded.
struct FileChange {
  std::string path;  // relative to the workspace; bytes, may be no text
  FileAction action = FileAction::kCreated;
  FileKind kind = FileKind::kFile;
  std::uint64_t size = 0;
  std::uint32_t mode = 0;  // permissions
  std::string sha256;      // of the content, or of a link's target; empty when removed

  bool operator==(const FileChange&) const = default;
};

// A file that an execution used, as it was then.
struct FileUse {
  enum class How {
    kRead,   // it is known that the execution read the file
    kNamed,  // the code of the execution names the file
  };
  std::string path;
  How how = How::kRead;
  std::string sha256;

  bool operator==(const FileUse&) const = default;
};
std::string_view NameOf(FileUse::How how);
std::optional<FileUse::How> ParseHow(std::string_view name);

// A file of an execution that a person should know of: a change that was not carried over, or one that was carried over
// and that agents follow.
struct FileNotice {
  enum class About { kWithheld, kToReview };
  std::string path;
  About about = About::kWithheld;
  std::string reason;

  bool operator==(const FileNotice&) const = default;
};
std::string_view NameOf(FileNotice::About about);
std::optional<FileNotice::About> ParseAbout(std::string_view name);

struct SessionRecord {
  std::string id;         // see core/session_name.hpp
  std::string unique_id;  // never used again, also when another session has the same id; given by the store
  std::string tenant;     // to whom the session belongs or belonged; empty where that is unknown
  std::string created_by;
  TimePoint created_at;
  TimePoint used_at;
  std::optional<TimePoint> deleted_at;

  bool operator==(const SessionRecord&) const = default;
};

enum class ExecutionState {
  kRunning,  // begun, and its end is not recorded yet
  kDone,     // how it ended is in `outcome`
  kLost,     // the process that ran it is gone
};
std::string_view NameOf(ExecutionState state);
std::optional<ExecutionState> ParseExecutionState(std::string_view name);

// Longer texts are cut when they are recorded as an ExecutionRecord's `what`.
inline constexpr std::size_t kMaxRecordedWhat = std::size_t{1} << 20U;

// About how many bytes the record of a change, a use or a notice takes in the store, with its indices.
[[nodiscard]] inline std::uint64_t WeightOf(const FileChange& change) {
  return 200 + 2 * change.path.size();
}
[[nodiscard]] inline std::uint64_t WeightOf(const FileUse& use) {
  return 150 + use.path.size();
}
[[nodiscard]] inline std::uint64_t WeightOf(const FileNotice& notice) {
  return 150 + notice.path.size() + notice.reason.size();
}

// One execution of a session: a program that ran, or a change through the file tools.
struct ExecutionRecord {
  std::string id;
  std::uint64_t sequence = 0;  // place in the order of all executions; given by the store
  std::string session;
  std::string kind;              // "run", "write", "edit", "undo", "bootstrap", … one word
  std::string what;              // the code, or the operation in words; cut when it is longer than kMaxRecordedWhat
  std::uint64_t what_bytes = 0;  // of the uncut text, and its digest: given by the store
  std::string what_sha256;
  std::string language;  // of a run
  std::string by;        // who asked for the execution
  std::string sandbox;
  std::string risk;      // level; empty where none was assessed
  std::string approval;  // who or what said yes; empty where nobody was asked
  std::string digest;    // of everything that the yes was about; empty where nobody was asked
  std::uint64_t timeout_seconds = 0;
  std::uint64_t memory_mb = 0;
  std::string caused_by;  // the execution that led to this one, or empty
  ExecutionState state = ExecutionState::kRunning;
  std::string outcome;  // name of the OutcomeKind; empty until the end
  int exit_code = 0;
  std::string reason;  // one line, when it did not end well
  TimePoint started_at;
  std::optional<TimePoint> ended_at;
  std::chrono::nanoseconds obtain{0};
  std::chrono::nanoseconds run{0};
  std::chrono::nanoseconds finish{0};
  std::uint64_t left_out = 0;  // changes, uses and notices that are not recorded: too many

  [[nodiscard]] bool WhatIsCut() const { return what.size() < what_bytes; }
  bool operator==(const ExecutionRecord&) const = default;
};

// How an execution ended, and all it did to files. `sandbox`, `risk`, `approval` and `digest` that are empty leave what
// was known at the beginning.
struct ExecutionEnd {
  ExecutionState state = ExecutionState::kDone;
  std::string sandbox;
  std::string risk;
  std::string approval;
  std::string digest;
  std::string outcome;
  int exit_code = 0;
  std::string reason;
  TimePoint ended_at;
  std::chrono::nanoseconds obtain{0};
  std::chrono::nanoseconds run{0};
  std::chrono::nanoseconds finish{0};
  std::vector<FileChange> changes;
  std::vector<FileUse> uses;
  std::vector<FileNotice> notices;
  std::uint64_t left_out = 0;  // changes, uses and notices that are left out here
};

// How many states of a file are loaded at most.
inline constexpr std::int64_t kMostVersions = 2000;

// One page of what an execution did to files.
struct ChangesPage {
  std::vector<FileChange> changes;
  std::uint64_t next = 0;  // `after` of the next page; 0: there is none
};

struct NoticesPage {
  std::vector<FileNotice> notices;
  std::uint64_t next = 0;  // as that of a ChangesPage
};

// A state of a file, and which execution made it.
struct FileVersion {
  std::string execution;
  std::uint64_t sequence = 0;  // of that execution
  TimePoint at;
  FileChange change;

  bool operator==(const FileVersion&) const = default;
};

// Times are kept to the microsecond. Thread-safe. Methods fail with kNotFound for a record that is not there, kConflict
// for one that is there already, kUnavailable when the store cannot be used (corrupt, read-only, locked, disk full):
// the message says why and what to do. A session is named by its id or its unique id.
class RecordStore {
 public:
  RecordStore() = default;
  RecordStore(const RecordStore&) = delete;
  RecordStore& operator=(const RecordStore&) = delete;
  virtual ~RecordStore() = default;

  // When a deleted session had the same id, its history stays under its unique id.
  virtual base::Status AddSession(const SessionRecord& session) = 0;
  // Sets the tenant that a living session belongs to.
  virtual base::Status SetTenant(const std::string& id, const std::string& tenant) = 0;
  virtual base::Status TouchSession(const std::string& id, TimePoint used_at) = 0;
  // The history of the session stays, with the time of its end.
  virtual base::Status EndSession(const std::string& id, TimePoint deleted_at) = 0;
  virtual base::Result<SessionRecord> FindSession(const std::string& id) = 0;
  // The last thousand sessions of a name, the newest first; without a tenant those of every tenant.
  virtual base::Result<std::vector<SessionRecord>> SessionsNamed(const std::string& name,
                                                                 const std::optional<std::string>& tenant) = 0;
  // Sessions in the order of their creation; deleted ones only with kAll.
  enum class Which { kLiving, kAll };
  virtual base::Result<std::vector<SessionRecord>> Sessions(Which which) = 0;

  // Gives the sequence number. Only the fields that are known at the beginning are taken; the state is kRunning.
  // kNotFound when the session is not there or deleted.
  virtual base::Result<std::uint64_t> BeginExecution(const ExecutionRecord& execution) = 0;
  // Records the whole end or nothing. kConflict when the execution has ended already.
  virtual base::Status EndExecution(const std::string& id, const ExecutionEnd& end) = 0;
  // The executions of a session after a sequence number, in order, at most `limit`.
  virtual base::Result<std::vector<ExecutionRecord>> Executions(const std::string& session, std::uint64_t after,
                                                                std::size_t limit) = 0;
  virtual base::Result<ExecutionRecord> FindExecution(const std::string& id) = 0;
  virtual base::Result<std::vector<ExecutionRecord>> Unfinished(const std::string& session) = 0;

  virtual base::Result<std::vector<FileChange>> ChangesOf(const std::string& execution) = 0;
  // The same in pages: at most `limit` changes, and not more bytes of paths than one answer can hold. `after` is 0 or a
  // `next`.
  virtual base::Result<ChangesPage> PageOfChanges(const std::string& execution, std::uint64_t after,
                                                  std::size_t limit) = 0;
  virtual base::Result<std::uint64_t> CountChanges(const std::string& execution) = 0;
  virtual base::Result<NoticesPage> PageOfNotices(const std::string& execution, FileNotice::About about,
                                                  std::uint64_t after, std::size_t limit) = 0;
  virtual base::Result<std::vector<FileUse>> UsesOf(const std::string& execution) = 0;
  // The states that a path had, in order; the newest kMostVersions.
  virtual base::Result<std::vector<FileVersion>> VersionsOf(const std::string& session, const std::string& path) = 0;
  // The files that are there now by the record, sorted by path. kTooLarge when their paths take more than 64 MB.
  virtual base::Result<std::vector<FileVersion>> CurrentFiles(const std::string& session) = 0;
  // How many files of the session's executions are not recorded.
  virtual base::Result<std::uint64_t> LeftOut(const std::string& session) = 0;

  // About how many bytes the history of each tenant's sessions takes.
  virtual base::Result<std::map<std::string, std::uint64_t>> BytesByTenant() = 0;
  // Removes the history of deleted sessions of a tenant, the oldest first, until so many bytes are free or none is
  // left. Gives how many bytes that were.
  virtual base::Result<std::uint64_t> ForgetDeleted(const std::string& tenant, std::uint64_t bytes) = 0;
};

}  // namespace skerry::core
