#include "engine/commit_policy.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <string_view>

#include "base/unique_fd.hpp"
#include "os/directory.hpp"
#include "os/files.hpp"
#include "policy/git_config.hpp"
#include "policy/git_routes.hpp"
#include "workspace/beneath.hpp"

namespace skerry::engine {
namespace {

constexpr std::size_t kMaxConfigBytes = 1U << 20U;
constexpr std::string_view kGuards = "guards the repository, which stays";

using workspace::JoinPath;
using workspace::NameOf;
using workspace::ParentOf;

// 0 where nothing is there.
mode_t ModeAt(int root, std::string_view path) {
  struct stat facts{};
  const std::string name = path.empty() ? "." : std::string(path);
  return ::fstatat(root, name.c_str(), &facts, AT_SYMLINK_NOFOLLOW) == 0 ? facts.st_mode : 0;
}

bool Exists(int root, std::string_view path) {
  return ModeAt(root, path) != 0;
}

bool HasDirectory(int root, std::string_view path) {
  return S_ISDIR(ModeAt(root, path));
}

bool IsPartOfRepository(std::string_view name) {
  return name == "HEAD" || name == "objects" || name == "refs";
}

// As git itself recognises a repository.
bool LooksLikeGitDirectory(int root, std::string_view path) {
  return Exists(root, JoinPath(path, "HEAD")) && Exists(root, JoinPath(path, "objects")) &&
         Exists(root, JoinPath(path, "refs"));
}

// The directory that a git directory belongs to: the project around a .git, also for a submodule's git directory in it.
std::string_view WholeOf(std::string_view git) {
  std::string_view whole = git;
  for (std::string_view above = git; !above.empty(); above = ParentOf(above))
    if (NameOf(above) == ".git") whole = ParentOf(above);
  return whole;
}

bool HasActiveHook(int root, const std::string& hooks) {
  const os::Directory directory =
      os::ListingOf(base::UniqueFd(::openat(root, hooks.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)));
  if (directory == nullptr) return false;
  while (const dirent* entry = ::readdir(directory.get()))
    if (!os::IsDots(entry->d_name) && !std::string_view(entry->d_name).ends_with(".sample")) return true;
  return false;
}

bool HasDangerousConfig(int root, const std::string& path) {
  const base::UniqueFd fd(::openat(root, path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (!fd.valid()) return errno != ENOENT;
  const auto text = os::ReadAll(fd.get(), kMaxConfigBytes);
  return !text || !policy::ProgramStartingKeys(*text, "").empty();
}

}  // namespace

void CommitPolicy::Begin(const workspace::OverlayChanges& found) {
  if (owner_ == core::WorkspaceOwner::kSkerry) return;
  for (const workspace::Change& change : found.changes)
    if (change.kind == workspace::ChangeKind::kDeletion && HasDirectory(directories_.lower, change.path))
      gone_.push_back(change.path);
}

std::string CommitPolicy::Refuses(const workspace::Change& change, const workspace::ChangeContents& contents) {
  if (rules_.deny_write.Matches(change.path)) return "denied by filesystem.denyWrite";
  if (owner_ == core::WorkspaceOwner::kSkerry) return "";
  if (std::string reason = environments_.Refuses(change); !reason.empty()) return reason;
  return RefusesForPerson(change, contents);
}

std::string CommitPolicy::RefusesForPerson(const workspace::Change& change, const workspace::ChangeContents& contents) {
  using workspace::ChangeKind;
  references_.LookAbove(change.path);
  const policy::InGitDirectory in_git = IsInGitDirectory(change.path);
  policy::PathVerdict verdict = Judge(change.path);
  const bool stronger = !verdict.reason || verdict.kind == policy::PathKind::kInstructs;
  if (stronger && references_.IsHook(change.path) && change.kind != ChangeKind::kDirectory)
    verdict = {.reason = "git hook, or a program that git's configuration names", .kind = policy::PathKind::kRuns};
  if (std::string reason = LeadsGitElsewhere(change); !reason.empty()) return reason;
  if (references_.IsIncluded(change.path)) verdict.question = policy::ContentQuestion::kGitConfig;
  if (change.kind == ChangeKind::kDeletion) return RefusesDeletion(change.path, verdict);
  if (verdict.reason && verdict.kind != policy::PathKind::kInstructs) return *verdict.reason;
  // A directory of instructions is no instruction.
  const bool was_there = change.kind != ChangeKind::kDirectory && Exists(directories_.lower, change.path);
  if (verdict.reason && was_there) return *verdict.reason + " that were there before";
  if (change.kind == ChangeKind::kLink)
    if (const auto reason = rules_.protected_paths.JudgeSymbolicLink(change.path, in_git)) return *reason;
  if (verdict.question == policy::ContentQuestion::kGitLink)
    if (std::string reason = RefusesRepository(change); !reason.empty()) return reason;
  if (change.kind == ChangeKind::kFile && verdict.question == policy::ContentQuestion::kGitConfig)
    if (std::string reason = RefusesConfig(change.path, contents); !reason.empty()) return reason;
  if (change.kind == ChangeKind::kFile && verdict.question == policy::ContentQuestion::kGitLink)
    if (std::string reason = RefusesGitLink(change.path, contents); !reason.empty()) return reason;
  return CompletesGitDirectory(change);
}

// A link in place of a directory or file through which git reaches its hooks, programs and included files, or something
// else in place of such a link.
std::string CommitPolicy::LeadsGitElsewhere(const workspace::Change& change) const {
  using workspace::ChangeKind;
  const bool link = change.kind == ChangeKind::kLink;
  const auto worktree = references_.WorktreeThatGoesBy(change.path);
  if (worktree && (link || S_ISLNK(ModeAt(directories_.lower, change.path)))) {
    const bool goes_with_it = change.kind == ChangeKind::kDeletion && !Exists(directories_.merged, *worktree);
    return goes_with_it ? "" : "on the way to what git runs or reads";
  }
  const bool may_run = link || (change.kind == ChangeKind::kFile && (change.mode & S_IXUSR) != 0);
  return may_run && references_.MayBeRun(change.path) ? "a program, and git's configuration is not understood" : "";
}

// Judges the path by its own name, and by that of a person's link that leads to it.
policy::PathVerdict CommitPolicy::Judge(const std::string& path) {
  policy::PathVerdict verdict = rules_.protected_paths.Judge(path, IsInGitDirectory(path));
  if (verdict.reason || verdict.question != policy::ContentQuestion::kNone) return verdict;
  linked_.LookAbove(path);
  const std::string name = linked_.OtherNameOf(path);
  return name.empty() ? verdict : rules_.protected_paths.Judge(name, IsInGitDirectory(name));
}

std::string CommitPolicy::Tells(const workspace::Change& change) {
  if (owner_ == core::WorkspaceOwner::kSkerry) return "";
  const policy::PathVerdict verdict = Judge(change.path);
  const bool instructs = verdict.reason && verdict.kind == policy::PathKind::kInstructs;
  return instructs ? "new " + *verdict.reason : "";
}

std::string CommitPolicy::RefusesConfig(const std::string& path, const workspace::ChangeContents& contents) {
  const auto text = contents.ReadNew(kMaxConfigBytes);
  if (!text) return "git configuration that cannot be read";
  const std::string before = contents.ReadOld(kMaxConfigBytes).value_or("");
  if (const auto keys = policy::ProgramStartingKeys(*text, before); !keys.empty())
    return "git configuration that can start programs: " + keys.front();
  const bool beside = references_.IsIncluded(path);
  const std::string git(ParentOf(path));
  const bool in_git = NameOf(git) == ".git" && ModeBefore(git) != 0;
  const bool was_there = in_git || Exists(directories_.lower, path) || LooksLikeGitDirectory(directories_.lower, git);
  if (!beside && !was_there) return RefusesRoutes(path, *text);
  const bool whole = !beside && NameOf(path) == "config";
  const auto keys =
      policy::RedirectingKeys(*text, before, whole ? policy::ConfigPart::kWhole : policy::ConfigPart::kBeside);
  return keys.empty() ? "" : "git configuration that leads elsewhere: " + keys.front();
}

// A new repository may have any remotes: the person has not pushed from it yet. But it may be an old repository that
// was moved: then it must have the old remotes, and the old configuration stays until it does.
std::string CommitPolicy::RefusesRoutes(const std::string& path, const std::string& text) {
  if (policy::RedirectingKeys(text, "", policy::ConfigPart::kWhole).empty()) return "";
  for (const std::string& gone : gone_) {
    for (std::string_view rest = path; !rest.empty();) {
      const std::string old = JoinPath(gone, rest);
      rest.remove_prefix(std::min(rest.find('/'), rest.size() - 1) + 1);
      const std::string_view git = ParentOf(old);
      const bool is_link = NameOf(git) == ".git" && S_ISREG(ModeAt(directories_.lower, git));
      if (!is_link && !WasGitDirectory(git)) continue;
      const auto fd = workspace::OpenFileBeneath(directories_.lower, old, workspace::Locked::kLeave);
      const std::string before = fd ? os::ReadAll(fd->get(), kMaxConfigBytes).value_or("") : "";
      const auto keys = policy::RedirectingKeys(text, before, policy::ConfigPart::kWhole);
      if (keys.empty()) continue;
      moved_from_.insert(old);
      return "git configuration that leads elsewhere than that of " + gone + ", which went: " + keys.front();
    }
  }
  return "";
}

// For a .git: a file stays a file, and none is added to a person's directory that belongs to another repository.
std::string CommitPolicy::RefusesRepository(const workspace::Change& change) {
  const mode_t before = ModeBefore(change.path);
  if (before != 0)
    return change.kind == workspace::ChangeKind::kDirectory && !S_ISDIR(before) ? "another repository than before" : "";
  const auto [found, added] = takes_over_.try_emplace(change.path, false);
  if (added) found->second = TakesOver(change.path);
  return found->second ? "a repository inside another one, around files that were there" : "";
}

bool CommitPolicy::TakesOver(const std::string& path) const {
  const std::string around(ParentOf(path));
  const os::Directory files = os::ListingOf(base::UniqueFd(
      ::openat(directories_.lower, around.empty() ? "." : around.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)));
  bool holds_files = false;
  while (const dirent* entry = files == nullptr ? nullptr : ::readdir(files.get()))
    holds_files = holds_files || !os::IsDots(entry->d_name);
  if (!holds_files) return false;
  for (std::string_view above = around; !above.empty();) {
    above = ParentOf(above);
    if (Exists(directories_.lower, JoinPath(above, ".git"))) return true;
  }
  return references_.IsTrackedFromAbove(around);
}

// 0 where nothing was there.
mode_t CommitPolicy::ModeBefore(const std::string& path) {
  const auto [found, added] = modes_before_.try_emplace(path, mode_t{0});
  if (added) found->second = ModeAt(directories_.lower, path);
  return found->second;
}

// A .git file that replaces another one would make git use another repository with other remotes.
std::string CommitPolicy::RefusesGitLink(const std::string& path, const workspace::ChangeContents& contents) const {
  const auto text = contents.ReadNew(kMaxConfigBytes);
  if (!text) return "a .git file that cannot be read";
  if (const auto reason = policy::JudgeGitLink(path, *text)) return *reason;
  const bool replaces = Exists(directories_.lower, path) && contents.ReadOld(kMaxConfigBytes).value_or("") != *text;
  return replaces ? "link to another git directory than before" : "";
}

// A .git counts by its name, even when parts of it are missing.
bool CommitPolicy::WasGitDirectory(std::string_view path) const {
  if (NameOf(path) == ".git" && HasDirectory(directories_.lower, path)) return true;
  return LooksLikeGitDirectory(directories_.lower, path);
}

// A file that a person's agents follow goes only with the directory around it: otherwise it could come back as a new
// file.
//
// A person's hooks and configuration guard something, and without HEAD, objects or refs git sees no repository: all of
// these go only with the whole repository, and those in .git with the project around it. Otherwise a later run could
// put another repository with other remotes in its place. Deleting anything else runs nothing.
std::string CommitPolicy::RefusesDeletion(const std::string& path, const policy::PathVerdict& verdict) const {
  if (verdict.reason && verdict.kind == policy::PathKind::kInstructs)
    return HasDirectory(directories_.merged, ParentOf(path)) && !HasDirectory(directories_.lower, path)
               ? *verdict.reason + " that were there before"
               : "";
  if (moved_from_.contains(path)) return "its repository was moved and would lead elsewhere";
  if (const auto worktree = references_.WorktreeThatRuns(path))
    return Exists(directories_.merged, *worktree) ? std::string(kGuards) : "";
  if (verdict.question == policy::ContentQuestion::kGitLink && !HasDirectory(directories_.lower, path))
    return Exists(directories_.merged, ParentOf(path)) ? std::string(kGuards) : "";
  const bool is_part = IsPartOfRepository(NameOf(path)) && WasGitDirectory(ParentOf(path));
  const bool guards =
      is_part || verdict.reason == "git hook" || verdict.question == policy::ContentQuestion::kGitConfig;
  if (!guards) return "";
  for (std::string_view above = ParentOf(path);; above = ParentOf(above)) {
    if (WasGitDirectory(above)) return Exists(directories_.merged, WholeOf(above)) ? std::string(kGuards) : "";
    if (above.empty()) return "";
  }
}

// Looks at the directory as the program left it, and as it was: a deleted git directory may have to stay.
policy::InGitDirectory CommitPolicy::IsInGitDirectory(const std::string& path) {
  for (std::string_view above = ParentOf(path);; above = ParentOf(above)) {
    const auto [found, added] = git_directories_.try_emplace(std::string(above), false);
    if (added)
      found->second =
          LooksLikeGitDirectory(directories_.merged, above) || LooksLikeGitDirectory(directories_.lower, above);
    if (found->second) return policy::InGitDirectory::kYes;
    if (above.empty()) return policy::InGitDirectory::kNo;
  }
}

// An earlier run may have left hooks and configuration while the directory was no repository to git: it must not become
// one now. What this run adds is judged by itself.
std::string CommitPolicy::CompletesGitDirectory(const workspace::Change& change) const {
  if (!IsPartOfRepository(NameOf(change.path))) return "";
  const std::string directory(ParentOf(change.path));
  if (!LooksLikeGitDirectory(directories_.merged, directory) || LooksLikeGitDirectory(directories_.lower, directory))
    return "";
  const bool armed = HasActiveHook(directories_.lower, JoinPath(directory, "hooks")) ||
                     HasDangerousConfig(directories_.lower, JoinPath(directory, "config"));
  return armed ? "would make a git repository with hooks or programs in its configuration" : "";
}

}  // namespace skerry::engine
