#include "engine/git_references.hpp"

#include <fcntl.h>

#include <algorithm>
#include <filesystem>

#include "base/unique_fd.hpp"
#include "os/files.hpp"
#include "policy/git_config.hpp"
#include "workspace/beneath.hpp"

namespace skerry::engine {
namespace {

constexpr std::size_t kMaxConfigBytes = 1U << 20U;
constexpr int kMaxDepth = 10;  // git's own bound on includes

// `path` as git takes it, from `directory`; "" when it leads out of the workspace, where no program here can write.
std::string Resolved(std::string_view directory, const std::string& path) {
  if (path.empty() || path.starts_with('/') || path.starts_with('~') || path.starts_with('%')) return "";
  std::string plain = (std::filesystem::path(directory) / path).lexically_normal().string();
  while (plain.ends_with('/')) plain.pop_back();
  return plain == "." || plain.starts_with("..") ? "" : plain;
}

}  // namespace

void GitReferences::LookAbove(std::string_view path) {
  for (std::string_view above = workspace::ParentOf(path);; above = workspace::ParentOf(above)) {
    if (!seen_.insert(std::string(above)).second) return;  // and so were all above it
    Look(std::string(above));
    if (above.empty()) return;
  }
}

void GitReferences::Look(const std::string& directory) {
  ReadConfig(workspace::JoinPath(directory, ".git/config"), directory, 0);
  // A bare one, whose working tree is itself.
  ReadConfig(workspace::JoinPath(directory, "config"), directory, 0);
}

void GitReferences::ReadConfig(const std::string& path, std::string_view worktree, int depth) {
  const base::UniqueFd fd(::openat(root_, path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (!fd.valid() || depth > kMaxDepth) return;
  const auto text = os::ReadAll(fd.get(), kMaxConfigBytes);
  const auto entries = policy::ParseGitConfig(text ? *text : "");
  if (!entries) return;
  for (const policy::GitConfigEntry& entry : *entries) {
    if (!entry.value) continue;
    if (entry.key == "core.hookspath") hooks_.push_back(Resolved(worktree, *entry.value));
    const bool include =
        entry.key == "include.path" || (entry.key.starts_with("includeif.") && entry.key.ends_with(".path"));
    if (!include) continue;
    const std::string included = Resolved(workspace::ParentOf(path), *entry.value);
    if (!included.empty() && included_.insert(included).second) ReadConfig(included, worktree, depth + 1);
  }
}

bool GitReferences::IsHook(std::string_view path) const {
  return std::ranges::any_of(hooks_, [&](const std::string& hooks) {
    return !hooks.empty() && (path == hooks || workspace::IsBelow(path, hooks));
  });
}

}  // namespace skerry::engine
