// The journal of one commit: what the commit is about to do to each path, and what was there before. With it the commit
// can be taken back, after a kill in the middle of it and when a person wants the run undone (docs/design/0006).
#pragma once

#include <sys/stat.h>
#include <sys/types.h>
#include <time.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "base/unique_fd.hpp"
#include "workspace/beneath.hpp"
#include "workspace/commit_journal.hpp"

namespace skerry::workspace {

// One step of the commit, which is about to happen, or has happened, to `path`.
struct JournalRecord {
  enum class Kind {
    kMade,              // a file or link was made where nothing was
    kReplaced,          // a file or link took the place of another, which is kept
    kRemoved,           // a file or link was moved away and is kept
    kDirectoryMade,     //
    kDirectoryRemoved,  // an empty one
    kMode,              // of a directory
    kTime,              // of a file
  };
  Kind kind = Kind::kMade;
  std::string path;
  std::uint64_t kept = 0;    // number of what is kept
  std::uint64_t inode = 0;   // of what is new
  std::string sha256;        // of what is new: content, or a link's target
  std::uint64_t mode = 0;    // before, of a directory
  std::int64_t seconds = 0;  // of the time before
  std::int64_t nanoseconds = 0;

  bool operator==(const JournalRecord&) const = default;
};

// Keeps what was there before, so that every step can be taken back. The journal's directory is Skerry's own, on the
// file system of the workspace, and is made when there is something to write: a run that changed nothing costs nothing.
// Files are prepared in it too. Not thread-safe.
class ChangeJournal : public CommitJournal {
 public:
  // `parent` is borrowed and has to outlive the journal; nothing is there under `name`.
  ChangeJournal(int parent, std::string name) : parent_(parent), name_(std::move(name)) {}

  base::Result<int> Stage() override;
  base::Status BeforeMove(const std::string& path, const Place& place, const struct stat& made,
                          const std::string& sha256) override;
  base::Status Remove(const std::string& path, const Place& place) override;
  base::Status BeforeDirectory(const std::string& path) override;
  base::Status BeforeRemoval(const std::string& path, const struct stat& directory) override;
  base::Status BeforeMode(const std::string& path, const struct stat& directory) override;
  base::Status BeforeTime(const std::string& path, const struct stat& file) override;
  // The commit is complete: from now on it is taken back only when a person asks for it.
  base::Status Complete() override;

  [[nodiscard]] bool IsEmpty() const { return !directory_.valid(); }

 private:
  base::Status Open();
  base::Status Append(const JournalRecord& record);
  base::Status AppendLine(std::string line);

  int parent_;
  std::string name_;
  base::UniqueFd directory_;
  base::UniqueFd file_;
  std::uint64_t kept_ = 0;
  std::uint64_t length_ = 0;  // of the file, all of it whole lines
};

// What becomes of a file that a person or a later run put in the place of one that the commit made or changed, when the
// commit is taken back.
enum class LaterWork { kStays, kGoes };

struct Journal {
  std::vector<JournalRecord> records;
  bool complete = false;
  std::optional<LaterWork> undone;  // the commit is being taken back
};

// Reads the journal in `directory`, which is borrowed. A last line that was not finished is no record: its step had not
// begun.
base::Result<Journal> ReadJournal(int directory);
// Writes into the journal that the commit is being taken back: after a kill that is finished.
base::Status MarkUndone(int directory, LaterWork later);

// The name, in the journal's directory, of the entry that it keeps under this number.
std::string KeptEntry(std::uint64_t number);

}  // namespace skerry::workspace
