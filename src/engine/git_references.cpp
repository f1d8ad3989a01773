#include "engine/git_references.hpp"

#include <fcntl.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <utility>

#include "base/unique_fd.hpp"
#include "os/directory.hpp"
#include "os/files.hpp"
#include "policy/git_index.hpp"
#include "policy/protected_paths.hpp"
#include "workspace/beneath.hpp"

namespace skerry::engine {
namespace {

constexpr std::size_t kMaxConfigBytes = 1U << 20U;
constexpr std::size_t kMaxIndexBytes = 64U << 20U;
constexpr int kMaxDepth = 10;  // git's own bound on includes

mode_t ModeAt(const std::string& path) {
  struct stat facts{};
  return ::stat(path.c_str(), &facts) == 0 ? facts.st_mode : 0;
}

bool IsLink(const std::string& path) {
  struct stat facts{};
  return ::lstat(path.c_str(), &facts) == 0 && S_ISLNK(facts.st_mode);
}

// On failure errno says why.
std::optional<std::string> TextOf(const std::string& path, std::size_t limit = kMaxConfigBytes) {
  const base::UniqueFd fd(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  if (!fd.valid()) return std::nullopt;
  auto text = os::ReadAll(fd.get(), limit);
  if (text) return std::move(*text);
  errno = EIO;
  return std::nullopt;
}

bool LooksLikeGitDirectory(const std::string& path) {
  return ModeAt(path + "/HEAD") != 0 && ModeAt(path + "/objects") != 0 && ModeAt(path + "/refs") != 0;
}

bool IsInGit(std::string_view path) {
  return path.starts_with(".git/") || path.contains("/.git/");
}

std::string FirstLine(std::string text) {
  text.resize(std::min(text.find_first_of("\r\n"), text.size()));
  return text;
}

std::string From(const std::string& directory, const std::string& path) {
  return path.starts_with('/') ? path : directory + '/' + path;
}

// The git directory that a .git stands for: itself, or where a .git file points. "" for none.
std::string GitDirectoryAt(const std::string& directory) {
  constexpr std::string_view kKey = "gitdir: ";
  std::string git = directory + "/.git";
  const mode_t mode = ModeAt(git);
  if (S_ISDIR(mode)) return git;
  if (!S_ISREG(mode)) return "";
  const std::string text = FirstLine(TextOf(git).value_or(""));
  return text.starts_with(kKey) ? From(directory, text.substr(kKey.size())) : "";
}

// The home of the workspace's owner, and that of this process; usually the same.
std::vector<std::string> HomesOf(uid_t owner) {
  std::vector<std::string> homes;
  std::array<char, 4096> space{};
  passwd entry{};
  passwd* found = nullptr;
  if (::getpwuid_r(owner, &entry, space.data(), space.size(), &found) == 0 && found != nullptr)
    homes.emplace_back(found->pw_dir);
  // NOLINTNEXTLINE(concurrency-mt-unsafe): nothing here changes the environment.
  if (const char* own = std::getenv("HOME"); own != nullptr && (homes.empty() || homes.front() != own))
    homes.emplace_back(own);
  return homes;
}

}  // namespace

GitReferences::GitReferences(int root) : trails_(root) {}

void GitReferences::LookAbove(std::string_view path) {
  for (std::string_view above = workspace::ParentOf(path);; above = workspace::ParentOf(above)) {
    if (!seen_.insert(std::string(above)).second) return;  // and so were all directories above it
    (void)LookAt(above.empty() ? trails_.root() : trails_.root() + '/' + std::string(above));
    if (above.empty()) return LookAtHostsDirectories();
  }
}

void GitReferences::LookAtHostsDirectories() {
  std::string above = trails_.root();
  while (!above.empty()) {
    above.resize(above.rfind('/'));
    if (auto repository = LookAt(above)) above_.push_back(std::move(*repository));
  }
}

// Reads the repository of a directory.
std::optional<GitReferences::Repository> GitReferences::LookAt(const std::string& directory) {
  std::string git = GitDirectoryAt(directory);
  // A bare repository is its own working tree. A .git is read from the directory around it.
  const bool bare = git.empty() && !directory.ends_with("/.git") && LooksLikeGitDirectory(directory);
  if (bare) git = directory;
  if (git.empty()) return std::nullopt;
  Repository repository{.git = git, .common = git, .worktree = directory};
  Read(repository);
  return repository;
}

void GitReferences::Read(const Repository& found) {
  Repository repository = found;
  if (!homes_) homes_ = HomesOf(trails_.owner());
  if (const auto common = TextOf(repository.git + "/commondir"))
    repository.common = From(repository.git, FirstLine(*common));
  for (const std::string& directory : {repository.common, repository.git})
    for (const char* name : {"/config", "/config.worktree"}) ReadConfig(directory + name, repository, 0);
  ReadConfig("/etc/gitconfig", repository, 0);
  for (const std::string& home : *homes_) {
    for (const char* name : {"/.gitconfig", "/.config/git/config"}) {
      const std::string config = home + name;
      if (auto place = Follow(config, repository.worktree).place) included_.insert(std::move(*place));
      if (::access(config.c_str(), R_OK) == 0) ReadConfig(config, repository, 0);
    }
  }
  const std::string hooks = repository.common + "/hooks";
  if (IsLink(hooks)) AddHooks(hooks, repository.worktree);
  AddLinksIn(hooks, repository.worktree);
}

void GitReferences::ReadConfig(const std::string& path, const Repository& repository, int depth) {
  if (depth > kMaxDepth || !read_.insert(path + '\n' + repository.worktree).second) return;
  const auto text = TextOf(path);
  if (!text && (errno == ENOENT || errno == ENOTDIR || errno == ELOOP)) return;
  const auto names = text ? policy::NamesInGitConfig(*text) : std::nullopt;
  if (names) return Take(*names, path, repository, depth);
  not_understood_.insert(PlaceOf(repository.worktree));
}

void GitReferences::Take(const policy::GitNames& names, const std::string& config, const Repository& repository,
                         int depth) {
  std::vector<std::string> worktrees = {repository.worktree};
  if (names.worktree) worktrees.push_back(From(repository.git, *names.worktree));
  for (const std::string& from : worktrees) {
    for (const std::string& hooks : names.hooks)
      for (const std::string& path : Absolute(hooks, from)) AddHooks(path, repository.worktree);
    for (const policy::CommandWord& word : names.programs) AddProgram(word, from, repository);
  }
  const std::string beside = config.substr(0, config.rfind('/'));
  for (const std::string& included : names.included) {
    for (const std::string& path : Absolute(included, beside)) {
      if (auto place = Follow(path, repository.worktree).place) included_.insert(std::move(*place));
      ReadConfig(path, repository, depth + 1);
    }
  }
}

void GitReferences::AddHooks(const std::string& directory, const std::string& worktree) {
  AddRun(Follow(directory, worktree), worktree);
  AddLinksIn(directory, worktree);
}

// A hook may be a link to a file elsewhere.
void GitReferences::AddLinksIn(const std::string& directory, const std::string& worktree) {
  const os::Directory listing =
      os::ListingOf(base::UniqueFd(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)));
  if (listing == nullptr) return;
  while (const dirent* entry = ::readdir(listing.get())) {
    const std::string path = directory + '/' + entry->d_name;
    if (!os::IsDots(entry->d_name) && IsLink(path)) AddRun(Follow(path, worktree), worktree);
  }
}

void GitReferences::AddProgram(const policy::CommandWord& word, const std::string& from, const Repository& repository) {
  std::vector<std::string> paths = Absolute(word.text, from);
  if (word.text.starts_with('/')) paths.push_back(from + word.text);  // the end of "$PWD/tools/x"
  for (const std::string& path : paths) {
    const Trail trail = trails_.Follow(path);
    const mode_t mode = ModeAt(trail.end);
    if (!trail.place || S_ISDIR(mode) || (mode == 0 && !word.is_path)) continue;
    // HEAD and refs/heads/main in a command are names for git.
    const bool in_git = IsInGit(*trail.place) || repository.git == repository.worktree;
    if (in_git && (mode & S_IXUSR) == 0) continue;
    AddRun(Follow(path, repository.worktree), repository.worktree);
  }
}

void GitReferences::AddRun(const Trail& trail, const std::string& worktree) {
  if (trail.place) runs_.emplace(*trail.place, PlaceOf(worktree));
}

Trail GitReferences::Follow(const std::string& path, const std::string& worktree) {
  Trail trail = trails_.Follow(path);
  for (const std::string& step : trail.steps) way_.emplace(step, PlaceOf(worktree));
  return trail;
}

// Several paths for one that begins with a home.
std::vector<std::string> GitReferences::Absolute(const std::string& path, const std::string& from) const {
  if (!path.starts_with("~/")) return {From(from, path)};
  std::vector<std::string> paths;
  if (!homes_) return paths;
  paths.reserve(homes_->size());
  for (const std::string& home : *homes_) paths.push_back(home + path.substr(1));
  return paths;
}

std::string GitReferences::PlaceOf(const std::string& worktree) const {
  return trails_.Follow(worktree).place.value_or("");
}

std::optional<std::string> GitReferences::WorktreeThatRuns(std::string_view path) const {
  for (std::string_view at = path; !at.empty(); at = workspace::ParentOf(at))
    if (const auto found = runs_.find(at); found != runs_.end()) return found->second;
  // When the root is a directory of hooks, it holds other files as well.
  const auto root = runs_.find("");
  if (root != runs_.end() && !path.contains('/') && policy::IsHookName(path)) return root->second;
  return std::nullopt;
}

std::optional<std::string> GitReferences::WorktreeThatGoesBy(std::string_view path) const {
  const auto found = way_.find(path);
  return found == way_.end() ? std::nullopt : std::optional(found->second);
}

bool GitReferences::IsTrackedFromAbove(std::string_view directory) const {
  const std::string path = directory.empty() ? trails_.root() : workspace::JoinPath(trails_.root(), directory);
  const auto tracks = [&](const Repository& repository) {
    const auto index = TextOf(repository.git + "/index", kMaxIndexBytes);
    if (!index) return errno != ENOENT;
    return policy::MayTrackBelow(*index, std::string_view(path).substr(repository.worktree.size() + 1));
  };
  return std::ranges::any_of(above_, tracks);
}

bool GitReferences::MayBeRun(std::string_view path) const {
  if (not_understood_.contains("")) return true;
  for (std::string_view at = path; !at.empty(); at = workspace::ParentOf(at))
    if (not_understood_.contains(at)) return true;
  return false;
}

}  // namespace skerry::engine
