// A session's workspace on disk, and what Skerry keeps beside it.
//
//   <base>/<session>/                   the workspace: plain files
//   <base>/.skerry/<session>/lock       held by whoever works with the session
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

// Letters, digits and ._- of ASCII, 1 to 64, a letter or digit first.
base::Status CheckSessionId(std::string_view id);
// The same for what names a session that is there: its name, or its id (core/session_name.hpp).
base::Status CheckSessionReference(std::string_view text);

// Held by one at a time, of all processes: the lock ends with the object, or with the process however that ends.
class SessionDirectory {
 public:
  // `base` is made where it is missing; it has to be the user's own. kConflict when the session is there.
  static base::Result<SessionDirectory> Create(const std::string& base, const std::string& id);
  // kNotFound; kUnavailable when somebody else has it until the deadline. A commit that was interrupted is taken back.
  static base::Result<SessionDirectory> Open(const std::string& base, const std::string& id, base::Deadline deadline);
  // To be removed, in whatever state it is.
  static base::Result<SessionDirectory> OpenToRemove(const std::string& base, const std::string& id,
                                                     base::Deadline deadline);
  // Only when nobody has it and nobody has used it since. kConflict otherwise.
  static base::Result<SessionDirectory> OpenIdle(const std::string& base, const std::string& id,
                                                 core::TimePoint unused_since);
  // The workspace alone, for reading beside whoever has the session.
  static base::Result<base::UniqueFd> OpenRoot(const std::string& base, const std::string& id);
  // Those that are there, sorted.
  static base::Result<std::vector<std::string>> List(const std::string& base);
  struct Use {
    core::TimePoint used_at;
    bool busy = false;
  };
  static base::Result<Use> UseOf(const std::string& base, const std::string& id);

  [[nodiscard]] const std::string& id() const { return id_; }
  // Of the workspace, real.
  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] int root() const { return root_.get(); }
  [[nodiscard]] int stage() const { return stage_.get(); }
  // It is used now. So it is when it is opened, too.
  void Touch() const;
  // Whether something was taken back when it was opened.
  [[nodiscard]] bool recovered() const { return recovered_; }
  // What could not be; "" for nothing. What its journal keeps is left beside the session.
  [[nodiscard]] const std::string& problem() const { return problem_; }

  // For one commit; valid as long as this object stays where it is.
  [[nodiscard]] ChangeJournal BeginChanges() const { return ChangeJournal(own_.get(), std::string(kNow)); }
  // The commit is complete: its journal becomes the one that undo uses. `label` says whose it is.
  base::Status KeepChanges(const ChangeJournal& journal, const std::string& label) const;
  // The commit is complete, and will not be taken back.
  base::Status ForgetChanges() const;
  // It failed: as if it had not been.
  base::Status DropChanges() const;

  struct LastChanges {
    base::UniqueFd directory;
    Journal journal;
    std::string label;
  };
  // Nothing when there is nothing to take back.
  [[nodiscard]] base::Result<std::optional<LastChanges>> Last() const;
  // kConflict, with their names, when files were changed since and are to stay.
  base::Result<std::vector<core::FileChange>> Undo(LaterWork later) const;

  // There is nothing to take back any more.
  base::Status ForgetLast() const;

  // Everything of it goes. The object is used up.
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
  // The journal is put away, so that it is in nobody's way.
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
