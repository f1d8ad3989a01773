#include "engine/commit_policy.hpp"

#include <fcntl.h>
#include <sys/stat.h>

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
constexpr std::string_view kGuards = "guards the repository: git hook or configuration";

using workspace::JoinPath;
using workspace::NameOf;
using workspace::ParentOf;

// 0 for nothing.
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

// What git itself looks for.
bool LooksLikeGitDirectory(int root, std::string_view path) {
  return Exists(root, JoinPath(path, "HEAD")) && Exists(root, JoinPath(path, "objects")) &&
         Exists(root, JoinPath(path, "refs"));
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
  if (change.kind == ChangeKind::kFile && verdict.question == policy::ContentQuestion::kGitConfig)
    if (std::string reason = RefusesConfig(change.path, contents); !reason.empty()) return reason;
  if (change.kind == ChangeKind::kFile && verdict.question == policy::ContentQuestion::kGitLink)
    if (std::string reason = RefusesGitLink(change.path, contents); !reason.empty()) return reason;
  return CompletesGitDirectory(change);
}

// A link in the place of what git goes through to its hooks, programs and included files, or something else in the
// place of such a link.
std::string CommitPolicy::LeadsGitElsewhere(const workspace::Change& change) const {
  using workspace::ChangeKind;
  const bool link = change.kind == ChangeKind::kLink;
  if (references_.IsOnTheWay(change.path) && (link || S_ISLNK(ModeAt(directories_.lower, change.path))))
    return "on the way to what git runs or reads";
  const bool may_run = link || (change.kind == ChangeKind::kFile && (change.mode & S_IXUSR) != 0);
  return may_run && references_.MayBeRun(change.path) ? "a program, and git's configuration is not understood" : "";
}

// By its name, or by the name of a person's link that leads to it.
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

std::string CommitPolicy::RefusesConfig(const std::string& path, const workspace::ChangeContents& contents) const {
  const auto text = contents.ReadNew(kMaxConfigBytes);
  if (!text) return "git configuration that cannot be read";
  const std::string before = contents.ReadOld(kMaxConfigBytes).value_or("");
  if (const auto keys = policy::ProgramStartingKeys(*text, before); !keys.empty())
    return "git configuration that can start programs: " + keys.front();
  const bool beside = references_.IsIncluded(path);
  // A new repository may have any remotes: nobody has pushed from it yet.
  const bool was_there = Exists(directories_.lower, path) || LooksLikeGitDirectory(directories_.lower, ParentOf(path));
  if (!beside && !was_there) return "";
  const bool whole = !beside && NameOf(path) == "config";
  const auto keys =
      policy::RedirectingKeys(*text, before, whole ? policy::ConfigPart::kWhole : policy::ConfigPart::kBeside);
  return keys.empty() ? "" : "git configuration that leads elsewhere: " + keys.front();
}

// In place of what was there, another repository with other remotes would be used from now on.
std::string CommitPolicy::RefusesGitLink(const std::string& path, const workspace::ChangeContents& contents) const {
  const auto text = contents.ReadNew(kMaxConfigBytes);
  if (!text) return "a .git file that cannot be read";
  if (const auto reason = policy::JudgeGitLink(path, *text)) return *reason;
  const bool replaces = Exists(directories_.lower, path) && contents.ReadOld(kMaxConfigBytes).value_or("") != *text;
  return replaces ? "link to another git directory than before" : "";
}

// What a person's agents follow goes only with the directory around it: what went could come back as something new.
//
// A person's hooks and configuration guard something: they go only with the whole repository, and those in .git with
// the project around it. Otherwise a later run could put another repository in the place of the one that went, with
// other remotes. To take anything else away runs nothing.
std::string CommitPolicy::RefusesDeletion(const std::string& path, const policy::PathVerdict& verdict) const {
  if (verdict.reason && verdict.kind == policy::PathKind::kInstructs)
    return HasDirectory(directories_.merged, ParentOf(path)) && !HasDirectory(directories_.lower, path)
               ? *verdict.reason + " that were there before"
               : "";
  if (const auto worktree = references_.WorktreeThatRuns(path))
    return Exists(directories_.merged, *worktree) ? std::string(kGuards) : "";
  const bool guards = verdict.reason == "git hook" || verdict.question == policy::ContentQuestion::kGitConfig;
  if (!guards) return "";
  for (std::string_view above = ParentOf(path);; above = ParentOf(above)) {
    if (LooksLikeGitDirectory(directories_.lower, above)) {
      const bool stays = NameOf(above) == ".git" ? HasDirectory(directories_.merged, ParentOf(above))
                                                 : LooksLikeGitDirectory(directories_.merged, above);
      return stays ? std::string(kGuards) : "";
    }
    if (above.empty()) return "";
  }
}

policy::InGitDirectory CommitPolicy::IsInGitDirectory(const std::string& path) {
  for (std::string_view above = ParentOf(path); !above.empty(); above = ParentOf(above)) {
    const auto [found, added] = git_directories_.try_emplace(std::string(above), false);
    if (added) found->second = LooksLikeGitDirectory(directories_.merged, above);
    if (found->second) return policy::InGitDirectory::kYes;
  }
  return LooksLikeGitDirectory(directories_.merged, "") ? policy::InGitDirectory::kYes : policy::InGitDirectory::kNo;
}

// Hooks and configuration may have been left by an earlier run, when the directory was nothing to git: it must not
// become a repository now. What this run adds is judged by itself.
std::string CommitPolicy::CompletesGitDirectory(const workspace::Change& change) const {
  const std::string_view name = NameOf(change.path);
  if (name != "HEAD" && name != "objects" && name != "refs") return "";
  const std::string directory(ParentOf(change.path));
  if (!LooksLikeGitDirectory(directories_.merged, directory) || LooksLikeGitDirectory(directories_.lower, directory))
    return "";
  const bool armed = HasActiveHook(directories_.lower, JoinPath(directory, "hooks")) ||
                     HasDangerousConfig(directories_.lower, JoinPath(directory, "config"));
  return armed ? "would make a git repository with hooks or programs in its configuration" : "";
}

}  // namespace skerry::engine
