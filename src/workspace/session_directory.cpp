#include "workspace/session_directory.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "base/ids.hpp"
#include "base/printable.hpp"
#include "core/session_name.hpp"
#include "os/errno_error.hpp"
#include "os/file_lock.hpp"
#include "os/files.hpp"
#include "os/own_directory.hpp"
#include "os/remove_tree.hpp"
#include "workspace/persons_directory.hpp"
#include "workspace/take_back.hpp"

namespace skerry::workspace {
namespace {

constexpr const char* kStates = ".skerry";
constexpr const char* kLock = "lock";
constexpr const char* kStage = "stage";
constexpr const char* kLast = "last";
constexpr const char* kLabel = "label";
constexpr std::size_t kMaxLabel = 256;
constexpr int kOpenDirectory = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;

bool IsThere(int directory, const std::string& name) {
  struct stat facts{};
  return ::fstatat(directory, name.c_str(), &facts, AT_SYMLINK_NOFOLLOW) == 0;
}

core::TimePoint TimeOf(const timespec& time) {
  return core::TimePoint(std::chrono::duration_cast<core::TimePoint::duration>(std::chrono::seconds(time.tv_sec) +
                                                                               std::chrono::nanoseconds(time.tv_nsec)));
}

// The name of a session, for people.
std::string Name(const std::string& id) {
  return std::string(core::NameOfSession(id));
}

bool IsLetterOrDigit(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

bool IsName(std::string_view text, std::size_t longest) {
  const auto fits = [](char c) { return IsLetterOrDigit(c) || c == '.' || c == '_' || c == '-'; };
  return !text.empty() && text.size() <= longest && IsLetterOrDigit(text.front()) && std::ranges::all_of(text, fits);
}

// Checks the id of a session, or of what all sessions of a tenant share: longer than a name by a prefix or a
// distinction.
base::Status CheckId(std::string_view id) {
  constexpr std::size_t kLongestName = 80;
  constexpr std::size_t kLongestDistinction = 32;
  const std::string_view name = core::NameOfSession(id);
  const std::string_view rest = id.substr(name.size());
  const bool plain = rest.empty() || (rest.size() > 1 && rest.size() <= kLongestDistinction &&
                                      std::ranges::all_of(rest.substr(1), IsLetterOrDigit));
  if (plain && IsName(name, kLongestName)) return {};
  return base::Err(base::Code::kInvalidArgument, "'" + base::Printable(base::Excerpt(id)) + "' is no id of a session");
}

base::Error NotFound(const std::string& id) {
  return {base::Code::kNotFound, "there is no session " + Name(id) + "; skerry session list shows those that are"};
}

// "a, b, c and 4 more".
std::string Named(const std::vector<std::string>& paths) {
  constexpr std::size_t kShown = 5;
  std::string text;
  for (std::size_t i = 0; i < std::min(paths.size(), kShown); ++i)
    text += (i == 0 ? "" : ", ") + base::Printable(paths[i]);
  if (paths.size() > kShown) text += " and " + std::to_string(paths.size() - kShown) + " more";
  return text;
}

}  // namespace

base::Status CheckSessionId(std::string_view id) {
  constexpr std::size_t kMaxLength = 64;
  if (IsName(id, kMaxLength)) return {};
  return base::Err(base::Code::kInvalidArgument,
                   "a session's name is 1 to 64 letters, digits and ._- and begins with a letter or digit");
}

base::Status CheckSessionReference(std::string_view text) {
  return text.contains('~') ? CheckId(text) : CheckSessionId(text);
}

base::Result<SessionDirectory> SessionDirectory::Prepare(const std::string& base, const std::string& id,
                                                         base::Deadline deadline) {
  SKERRY_RETURN_IF_ERROR(CheckId(id));
  SessionDirectory session;
  session.id_ = id;
  SKERRY_ASSIGN_OR_RETURN(session.base_, os::OpenOwnDirectory(base));
  SKERRY_ASSIGN_OR_RETURN(session.states_, os::OpenOwnPart(session.base_.get(), kStates));
  SKERRY_ASSIGN_OR_RETURN(session.own_, os::OpenOwnPart(session.states_.get(), id.c_str()));
  auto lock = os::LockFile(session.own_.get(), kLock, os::LockMode::kExclusive, deadline);
  if (!lock) return base::Err(lock.error().code, "session " + Name(id) + ": " + lock.error().message);
  session.lock_ = std::move(*lock);
  return session;
}

void SessionDirectory::Touch() const {
  (void)::futimens(lock_.get(), nullptr);
}

base::Status SessionDirectory::OpenParts() {
  root_.Reset(::openat(base_.get(), id_.c_str(), kOpenDirectory));
  if (!root_.valid()) return os::ErrnoErr("session " + Name(id_));
  SKERRY_ASSIGN_OR_RETURN(path_, PathOf(root_.get()));
  SKERRY_ASSIGN_OR_RETURN(stage_, os::OpenOwnPart(own_.get(), kStage));
  return {};
}

base::Result<SessionDirectory> SessionDirectory::Create(const std::string& base, const std::string& id) {
  SKERRY_ASSIGN_OR_RETURN(SessionDirectory session, Prepare(base, id, base::Deadline::After({})));
  if (IsThere(session.base_.get(), id))
    return base::Err(base::Code::kConflict, "session " + Name(id) + " is there already");
  SKERRY_RETURN_IF_ERROR(session.RemoveRemains());
  if (::mkdirat(session.base_.get(), id.c_str(), S_IRWXU) < 0) {
    if (errno == EEXIST) return base::Err(base::Code::kConflict, "session " + Name(id) + " is there already");
    return os::ErrnoErr("make the workspace of session " + Name(id));
  }
  SKERRY_RETURN_IF_ERROR(session.OpenParts());
  session.Touch();
  return session;
}

// Remains of a session with the same id whose removal was interrupted: none of its files may appear in a new session.
base::Status SessionDirectory::RemoveRemains() const {
  SKERRY_ASSIGN_OR_RETURN(const std::vector<std::string> names, os::NamesOf(own_.get()));
  for (const std::string& name : names)
    if (name != kLock) SKERRY_RETURN_IF_ERROR(os::RemoveTree(own_.get(), name));
  return {};
}

base::Result<SessionDirectory> SessionDirectory::OpenToRemove(const std::string& base, const std::string& id,
                                                              base::Deadline deadline) {
  SKERRY_ASSIGN_OR_RETURN(const base::UniqueFd there, OpenRoot(base, id));
  return Prepare(base, id, deadline);
}

base::Result<base::UniqueFd> SessionDirectory::OpenRoot(const std::string& base, const std::string& id) {
  SKERRY_RETURN_IF_ERROR(CheckId(id));
  base::UniqueFd root(::open((base + "/" + id).c_str(), kOpenDirectory));
  if (!root.valid())
    return std::unexpected(errno == ENOENT ? NotFound(id) : os::ErrnoError("session " + Name(id), errno));
  return root;
}

base::Result<SessionDirectory::Use> SessionDirectory::UseOf(const std::string& base, const std::string& id) {
  SKERRY_RETURN_IF_ERROR(CheckId(id));
  const std::string path = base + "/" + kStates + "/" + id + "/" + kLock;
  const base::UniqueFd lock(::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
  struct stat facts{};
  if (!lock.valid() || ::fstat(lock.get(), &facts) < 0) return os::ErrnoErr("session " + Name(id));
  Use use{.used_at = TimeOf(facts.st_mtim)};
  use.busy = ::flock(lock.get(), LOCK_SH | LOCK_NB) < 0;
  return use;
}

base::Result<SessionDirectory> SessionDirectory::OpenIdle(const std::string& base, const std::string& id,
                                                          core::TimePoint unused_since) {
  SKERRY_ASSIGN_OR_RETURN(const base::UniqueFd there, OpenRoot(base, id));
  SKERRY_ASSIGN_OR_RETURN(SessionDirectory session, Prepare(base, id, base::Deadline::After({})));
  struct stat facts{};
  if (::fstat(session.lock_.get(), &facts) < 0) return os::ErrnoErr("session " + Name(id));
  if (TimeOf(facts.st_mtim) > unused_since)
    return base::Err(base::Code::kConflict, "session " + Name(id) + " is in use");
  SKERRY_RETURN_IF_ERROR(session.OpenParts());
  return session;
}

base::Result<SessionDirectory> SessionDirectory::Open(const std::string& base, const std::string& id,
                                                      base::Deadline deadline) {
  // Looked up first: a question for a session that is not there must leave nothing behind.
  SKERRY_ASSIGN_OR_RETURN(const base::UniqueFd there, OpenRoot(base, id));
  SKERRY_ASSIGN_OR_RETURN(SessionDirectory session, Prepare(base, id, deadline));
  if (!IsThere(session.base_.get(), id)) return std::unexpected(NotFound(id));  // removed while this call waited
  SKERRY_RETURN_IF_ERROR(session.OpenParts());
  SKERRY_RETURN_IF_ERROR(session.Recover());
  session.Touch();
  return session;
}

base::Result<std::vector<std::string>> SessionDirectory::List(const std::string& base) {
  const base::UniqueFd directory(::open(base.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!directory.valid() && errno == ENOENT) return std::vector<std::string>{};
  if (!directory.valid()) return os::ErrnoErr(base);
  SKERRY_ASSIGN_OR_RETURN(std::vector<std::string> names, os::NamesOf(directory.get()));
  std::erase_if(names, [](const std::string& name) { return !CheckId(name); });
  std::ranges::sort(names);
  return names;
}

// The process that had the session before is dead, or this one would not have the lock.
base::Status SessionDirectory::Recover() {
  SKERRY_ASSIGN_OR_RETURN(const std::vector<std::string> staged, os::NamesOf(stage_.get()));
  for (const std::string& name : staged) SKERRY_RETURN_IF_ERROR(os::RemoveTree(stage_.get(), name));
  if (const auto repaired = RepairCommit(); !repaired) GiveUp(std::string(kNow), repaired.error());
  if (const auto finished = FinishUndo(); !finished) GiveUp(kLast, finished.error());
  return {};
}

base::Status SessionDirectory::RepairCommit() {
  const base::UniqueFd now(::openat(own_.get(), std::string(kNow).c_str(), kOpenDirectory));
  if (!now.valid()) return {};
  recovered_ = true;
  SKERRY_ASSIGN_OR_RETURN(const Journal journal, ReadJournal(now.get()));
  if (journal.complete) return MakeLast();
  SKERRY_RETURN_IF_ERROR(TakeBack(journal, now.get(), root_.get(), LaterWork::kStays));
  return os::RemoveTree(own_.get(), std::string(kNow));
}

// Completes an undo that was interrupted: half of it would be neither state.
base::Status SessionDirectory::FinishUndo() {
  SKERRY_ASSIGN_OR_RETURN(const auto last, Last());
  if (!last || !last->journal.undone) return {};
  recovered_ = true;
  SKERRY_RETURN_IF_ERROR(TakeBack(last->journal, last->directory.get(), root_.get(), *last->journal.undone));
  return os::RemoveTree(own_.get(), kLast);
}

void SessionDirectory::GiveUp(const std::string& journal, const base::Error& error) {
  const std::string away = base::RandomId("unfinished-");
  (void)::renameat(own_.get(), journal.c_str(), own_.get(), away.c_str());
  recovered_ = true;
  problem_ = "what was interrupted in session " + Name(id_) + " could not be taken back (" + error.message +
             "); what it kept is in " + std::string(kStates) + "/" + id_ + "/" + away + " beside the workspaces";
}

base::Status SessionDirectory::MakeLast() const {
  SKERRY_RETURN_IF_ERROR(os::RemoveTree(own_.get(), kLast));
  if (::renameat(own_.get(), std::string(kNow).c_str(), own_.get(), kLast) < 0)
    return os::ErrnoErr("keep the journal of the changes");
  return {};
}

base::Status SessionDirectory::KeepChanges(const ChangeJournal& journal, const std::string& label) const {
  if (journal.IsEmpty()) return {};
  const std::string now(kNow);
  const base::UniqueFd file(::openat(own_.get(), (now + "/" + kLabel).c_str(),
                                     O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, S_IRUSR | S_IWUSR));
  if (!file.valid()) return os::ErrnoErr("keep the journal of the changes");
  SKERRY_RETURN_IF_ERROR(os::WriteAll(file.get(), label));
  return MakeLast();
}

base::Status SessionDirectory::ForgetChanges() const {
  return os::RemoveTree(own_.get(), std::string(kNow));
}

base::Status SessionDirectory::ForgetLast() const {
  return os::RemoveTree(own_.get(), kLast);
}

base::Status SessionDirectory::DropChanges() const {
  const std::string name(kNow);
  const base::UniqueFd now(::openat(own_.get(), name.c_str(), kOpenDirectory));
  if (!now.valid()) return {};
  SKERRY_ASSIGN_OR_RETURN(const Journal journal, ReadJournal(now.get()));
  SKERRY_RETURN_IF_ERROR(TakeBack(journal, now.get(), root_.get(), LaterWork::kStays));
  return os::RemoveTree(own_.get(), name);
}

base::Result<std::optional<SessionDirectory::LastChanges>> SessionDirectory::Last() const {
  base::UniqueFd directory(::openat(own_.get(), kLast, kOpenDirectory));
  if (!directory.valid() && errno == ENOENT) return std::nullopt;
  if (!directory.valid()) return os::ErrnoErr("read the journal of the last changes");
  SKERRY_ASSIGN_OR_RETURN(Journal journal, ReadJournal(directory.get()));
  if (!journal.complete) return std::nullopt;  // its removal was interrupted by a kill
  const base::UniqueFd file(::openat(directory.get(), kLabel, O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
  std::string label = file.valid() ? os::ReadAll(file.get(), kMaxLabel).value_or("") : "";
  return LastChanges{std::move(directory), std::move(journal), std::move(label)};
}

base::Result<std::vector<core::FileChange>> SessionDirectory::Undo(LaterWork later) const {
  SKERRY_ASSIGN_OR_RETURN(const auto last, Last());
  if (!last)
    return base::Err(base::Code::kNotFound, "there is nothing to take back in session " + Name(id_) +
                                                ": no run has changed a file since the last undo");
  if (later == LaterWork::kStays) {
    SKERRY_ASSIGN_OR_RETURN(const std::vector<std::string> since, ChangedSince(last->journal, root_.get()));
    if (!since.empty())
      return base::Err(base::Code::kConflict,
                       "changed since that run: " + Named(since) + "; --force takes it back all the same");
  }
  SKERRY_RETURN_IF_ERROR(MarkUndone(last->directory.get(), later));
  SKERRY_ASSIGN_OR_RETURN(std::vector<core::FileChange> changes,
                          TakeBack(last->journal, last->directory.get(), root_.get(), later));
  SKERRY_RETURN_IF_ERROR(os::RemoveTree(own_.get(), kLast));
  return changes;
}

base::Status SessionDirectory::Remove() {
  // Moved out of sight first: a kill in the middle leaves no half session.
  const std::string gone = "gone-" + id_;
  SKERRY_RETURN_IF_ERROR(os::RemoveTree(own_.get(), gone));
  if (::renameat(base_.get(), id_.c_str(), own_.get(), gone.c_str()) < 0 && errno != ENOENT)
    return os::ErrnoErr("remove session " + Name(id_));
  SKERRY_RETURN_IF_ERROR(os::RemoveTree(own_.get(), gone));
  SKERRY_RETURN_IF_ERROR(os::RemoveTree(states_.get(), id_));
  lock_.Reset();
  return {};
}

}  // namespace skerry::workspace
