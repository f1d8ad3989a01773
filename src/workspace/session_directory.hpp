// A session's workspace on disk, and what Skerry keeps beside it.
//
//   <base>/<session>/                   the workspace: plain files
//   <base>/.skerry/<session>/lock       held by the process that works with the session
//   <base>/.skerry/<session>/stage/     files on their way into the workspace
//   <base>/.skerry/<session>/now/       journal of a commit that is under way
//   <base>/.skerry/<session>/last/      journal of the last run that changed something: what `undo` takes back
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/deadline.hpp"
#include "base/result.hpp"
#include "base/unique_fd.hpp"
#include "core/record.hpp"
#include "workspace/change_journal.hpp"

namespace skerry::workspace {

// An id has 1 to 64 letters, digits and ._- of ASCII, a letter or digit first.
base::Status CheckSessionId(std::string_view id);
// The same for a text that refers to a session that is there: its name, or its id (core/session_name.hpp).
base::Status CheckSessionReference(std::string_view text);

// One process has a session's directory at a time, and one object in it: the lock ends with the object, or with the
// process however the process ends.
class SessionDirectory {
 public:
  // Makes a session's directory. `base` is made where it is missing; it has to belong to the user. kConflict when the
  // session is there.
  static base::Result<SessionDirectory> Create(const std::string& base, const std::string& id);
  // Opens a session's directory; a commit that was interrupted is taken back. kNotFound; kUnavailable when another
  // process has the session until the deadline.
  static base::Result<SessionDirectory> Open(const std::string& base, const std::string& id, base::Deadline deadline);
  // Opens a session's directory in order to remove it, in whatever state it is.
  static base::Result<SessionDirectory> OpenToRemove(const std::string& base, const std::string& id,
                                                     base::Deadline deadline);
  // Opens the session's directory only when no process has it and it was not used since. kConflict otherwise.
  static base::Result<SessionDirectory> OpenIdle(const std::string& base, const std::string& id,
                                                 core::TimePoint unused_since);
  // Opens the workspace alone, for reading beside the process that has the session.
  static base::Result<base::UniqueFd> OpenRoot(const std::string& base, const std::string& id);
  // The ids of the sessions that are there, sorted.
  static base::Result<std::vector<std::string>> List(const std::string& base);
  struct Use {
    core::TimePoint used_at;
    bool busy = false;
  };
  static base::Result<Use> UseOf(const std::string& base, const std::string& id);

  [[nodiscard]] const std::string& id() const { return id_; }
  // The real path of the workspace.
  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] int root() const { return root_.get(); }
  [[nodiscard]] int stage() const { return stage_.get(); }
  // Notes that the session is used now. Opening it does so too.
  void Touch() const;
  // Whether Open took an interrupted commit back.
  [[nodiscard]] bool recovered() const { return recovered_; }
  // Why an interrupted commit could not be taken back; "" when none failed. What its journal keeps is left beside the
  // session.
  [[nodiscard]] const std::string& problem() const { return problem_; }

  // The journal for one commit; valid as long as this object stays where it is.
  [[nodiscard]] ChangeJournal BeginChanges() const { return ChangeJournal(own_.get(), std::string(kNow)); }
  // The commit is complete: its journal becomes the one that Undo uses. `label` is the id of the execution that made
  // the changes.
  base::Status KeepChanges(const ChangeJournal& journal, const std::string& label) const;
  // The commit is complete, and will not be taken back.
  base::Status ForgetChanges() const;
  // The commit failed: takes it back, as if it had not been.
  base::Status DropChanges() const;

  struct LastChanges {
    base::UniqueFd directory;
    Journal journal;
    std::string label;
  };
  // The last changes that can be taken back; nothing when there are none.
  [[nodiscard]] base::Result<std::optional<LastChanges>> Last() const;
  // Takes the last changes back. kConflict, with their names, when files were changed since and are to stay.
  base::Result<std::vector<core::FileChange>> Undo(LaterWork later) const;

  // Forgets the last changes: they can not be taken back any more.
  base::Status ForgetLast() const;

  // Removes everything of the session. The object is used up.
  base::Status Remove();

 private:
  static constexpr std::string_view kNow = "now";

  SessionDirectory() = default;
  static base::Result<SessionDirectory> Prepare(const std::string& base, const std::string& id,
                                                base::Deadline deadline);
  base::Status OpenParts();
  [[nodiscard]] base::Status RemoveRemains() const;
  base::Status Recover();
  base::Status RepairCommit();
  base::Status FinishUndo();
  // Puts a journal that could not be taken back aside, so that the session can be used.
  void GiveUp(const std::string& journal, const base::Error& error);
  base::Status MakeLast() const;

  std::string id_;
  std::string path_;
  base::UniqueFd base_;
  base::UniqueFd states_;  // <base>/.skerry
  base::UniqueFd own_;     // <base>/.skerry/<session>
  base::UniqueFd lock_;
  base::UniqueFd root_;
  base::UniqueFd stage_;
  bool recovered_ = false;
  std::string problem_;
};

}  // namespace skerry::workspace
