// The record of what happened: sessions, executions, and what became of which file (S4.8, S10.3). The port that a store
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
    kRead,   // it was read, we know
    kNamed,  // its code names it
  };
  std::string path;
  How how = How::kRead;
  std::string sha256;

  bool operator==(const FileUse&) const = default;
};
std::string_view NameOf(FileUse::How how);
std::optional<FileUse::How> ParseHow(std::string_view name);

// A file of an execution that somebody should know of: a change that was not carried over, or one that was and that
// agents follow.
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
  std::string unique_id;  // of this one for ever, also when another one has the id; given by the store
  std::string tenant;     // whose it is, or was; empty where nobody said
  std::string created_by;
  TimePoint created_at;
  TimePoint used_at;
  std::optional<TimePoint> deleted_at;

  bool operator==(const SessionRecord&) const = default;
};

enum class ExecutionState {
  kRunning,  // begun, and nobody has told its end yet
  kDone,     // how it ended is in `outcome`
  kLost,     // whoever ran it went away
};
std::string_view NameOf(ExecutionState state);
std::optional<ExecutionState> ParseExecutionState(std::string_view name);

// More of an ExecutionRecord's `what` is not kept.
inline constexpr std::size_t kMaxRecordedWhat = std::size_t{1} << 20U;

// What the record of something takes in the store, about: with its indices.
[[nodiscard]] inline std::uint64_t WeightOf(const FileChange& change) {
  return 200 + 2 * change.path.size();
}
[[nodiscard]] inline std::uint64_t WeightOf(const FileUse& use) {
  return 150 + use.path.size();
}
[[nodiscard]] inline std::uint64_t WeightOf(const FileNotice& notice) {
  return 150 + notice.path.size() + notice.reason.size();
}

// One thing that was done in a session: a program that ran, or a change through the file tools.
struct ExecutionRecord {
  std::string id;
  std::uint64_t sequence = 0;  // its place in the order of all; given by the store
  std::string session;
  std::string kind;              // "run", "write", "edit", "undo", "bootstrap", … one word
  std::string what;              // the code, or the operation in words; cut when it is longer than kMaxRecordedWhat
  std::uint64_t what_bytes = 0;  // of the whole, and its digest: given by the store
  std::string what_sha256;
  std::string language;  // of a run
  std::string by;        // who asked for it
  std::string sandbox;
  std::string risk;      // level; empty where none was assessed
  std::string approval;  // who or what said yes; empty where nobody was asked
  std::uint64_t timeout_seconds = 0;
  std::uint64_t memory_mb = 0;
  std::string caused_by;  // the execution that led to this one, or empty
  ExecutionState state = ExecutionState::kRunning;
  std::string outcome;  // name of the OutcomeKind; empty until the end
  int exit_code = 0;
  std::string reason;  // one line, of what did not end well
  TimePoint started_at;
  std::optional<TimePoint> ended_at;
  std::chrono::nanoseconds obtain{0};
  std::chrono::nanoseconds run{0};
  std::chrono::nanoseconds finish{0};
  std::uint64_t left_out =
      0;  // files that it changed or used or that were to be told of, and that are not recorded: too many

  [[nodiscard]] bool WhatIsCut() const { return what.size() < what_bytes; }
  bool operator==(const ExecutionRecord&) const = default;
};

// How an execution ended, and all it did to files. `sandbox`, `risk` and `approval` that are empty leave what was known
// at the beginning.
struct ExecutionEnd {
  ExecutionState state = ExecutionState::kDone;
  std::string sandbox;
  std::string risk;
  std::string approval;
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
  std::uint64_t left_out = 0;  // of all three, that are not here
};

// States of a file that are asked for at once.
inline constexpr std::int64_t kMostVersions = 2000;

// A part of what an execution did to files.
struct ChangesPage {
  std::vector<FileChange> changes;
  std::uint64_t next = 0;  // `after` of the next part; 0: there is none
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

// Times are kept to the microsecond. Thread-safe. Methods fail with kNotFound for what is not there, kConflict for what
// is there already, kUnavailable when the store cannot be used (corrupt, read-only, locked, disk full): the message
// says why and what to do. A session is named by its id or its unique one.
class RecordStore {
 public:
  RecordStore() = default;
  RecordStore(const RecordStore&) = delete;
  RecordStore& operator=(const RecordStore&) = delete;
  virtual ~RecordStore() = default;

  // When a session that is deleted had the id, its history stays under its unique one.
  virtual base::Status AddSession(const SessionRecord& session) = 0;
  // Whose a living session is.
  virtual base::Status SetTenant(const std::string& id, const std::string& tenant) = 0;
  virtual base::Status TouchSession(const std::string& id, TimePoint used_at) = 0;
  // Its history stays, with the time of its end.
  virtual base::Status EndSession(const std::string& id, TimePoint deleted_at) = 0;
  virtual base::Result<SessionRecord> FindSession(const std::string& id) = 0;
  // The last thousand of a name, the newest first; of every tenant, where none is given.
  virtual base::Result<std::vector<SessionRecord>> SessionsNamed(const std::string& name,
                                                                 const std::optional<std::string>& tenant) = 0;
  // In the order of their creation; those that are deleted only when asked for.
  enum class Which { kLiving, kAll };
  virtual base::Result<std::vector<SessionRecord>> Sessions(Which which) = 0;

  // Gives the sequence number. Only what is known at the beginning is taken; its state is kRunning. kNotFound when the
  // session is not there or deleted.
  virtual base::Result<std::uint64_t> BeginExecution(const ExecutionRecord& execution) = 0;
  // All of it or nothing. kConflict when it has ended already.
  virtual base::Status EndExecution(const std::string& id, const ExecutionEnd& end) = 0;
  // Those of a session after a sequence number, in order, at most `limit`.
  virtual base::Result<std::vector<ExecutionRecord>> Executions(const std::string& session, std::uint64_t after,
                                                                std::size_t limit) = 0;
  virtual base::Result<ExecutionRecord> FindExecution(const std::string& id) = 0;
  virtual base::Result<std::vector<ExecutionRecord>> Unfinished(const std::string& session) = 0;

  virtual base::Result<std::vector<FileChange>> ChangesOf(const std::string& execution) = 0;
  // The same in parts: at most `limit`, and not more bytes of paths than one answer can hold. `after` is 0 or a `next`.
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
  // Files of all its executions that are not recorded.
  virtual base::Result<std::uint64_t> LeftOut(const std::string& session) = 0;

  // What the history of each tenant's sessions takes, about.
  virtual base::Result<std::map<std::string, std::uint64_t>> BytesByTenant() = 0;
  // Removes the history of deleted sessions of a tenant, the oldest first, until so many bytes are free or there is
  // none left. Gives how many that were.
  virtual base::Result<std::uint64_t> ForgetDeleted(const std::string& tenant, std::uint64_t bytes) = 0;
};

}  // namespace skerry::core
