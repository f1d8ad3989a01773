#include "engine/filesystem_rules.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

#include "os/errno_error.hpp"
#include "workspace/find_paths.hpp"
#include "workspace/persons_directory.hpp"

namespace skerry::engine {
namespace {

constexpr char kInside[] = "/workspace";
constexpr std::size_t kMaxBinds = 48;

bool HasWildcard(std::string_view text) {
  return text.find_first_of("*?[") != std::string_view::npos;
}

bool IsOrIsBelow(std::string_view path, std::string_view directory) {
  return path == directory || (path.starts_with(directory) && path[directory.size()] == '/');
}

std::string WithoutEndSlash(std::string path) {
  while (path.size() > 1 && path.ends_with('/')) path.pop_back();
  return path;
}

// Directories of the host that every sandbox has.
bool IsShownAnyway(std::string_view path) {
  constexpr std::array<std::string_view, 6> kShown = {"/usr", "/bin", "/sbin", "/lib", "/lib64", "/etc"};
  return std::ranges::any_of(kShown, [&](std::string_view top) { return IsOrIsBelow(path, top); });
}

}  // namespace

class RulesBuilder {
 public:
  RulesBuilder(const FilesystemOptions& options, const std::string& workspace, int workspace_fd)
      : options_(options), workspace_(workspace), workspace_fd_(workspace_fd) {}

  base::Result<FilesystemRules> Build() {
    SKERRY_RETURN_IF_ERROR(Allow(options_.allow_read, core::BindAccess::kReadOnly, "filesystem.allowRead"));
    SKERRY_RETURN_IF_ERROR(Allow(options_.allow_write, core::BindAccess::kReadWrite, "filesystem.allowWrite"));
    SKERRY_RETURN_IF_ERROR(DenyWrite());
    SKERRY_RETURN_IF_ERROR(DenyRead());
    auto paths = policy::ProtectedPaths::Make(options_.protect);
    if (!paths) return base::Err(paths.error().code, "filesystem.protect: " + paths.error().message);
    rules_.protected_paths_ = std::move(*paths);
    if (rules_.binds_.size() > kMaxBinds)
      return base::Err(base::Code::kTooLarge,
                       "filesystem: more than 48 paths of the host; name a directory above them");
    return std::move(rules_);
  }

 private:
  using Paths = std::vector<std::string>;

  [[nodiscard]] std::string Expanded(const std::string& pattern) const {
    if (options_.home.empty() || (pattern != "~" && !pattern.starts_with("~/"))) return pattern;
    return options_.home + pattern.substr(1);
  }

  // The paths that exist for an absolute pattern.
  base::Result<Paths> Resolve(const std::string& pattern) {
    if (!HasWildcard(pattern)) return Paths{WithoutEndSlash(pattern)};
    const std::size_t slash = pattern.rfind('/', pattern.find_first_of("*?["));
    const std::string top = slash == 0 ? "/" : pattern.substr(0, slash);
    const base::UniqueFd fd(::open(top.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    if (!fd.valid()) return errno == ENOENT ? base::Result<Paths>(Paths{}) : os::ErrnoErr(top);
    const Paths rest = {"./" + pattern.substr(slash + 1)};
    SKERRY_ASSIGN_OR_RETURN(const auto patterns, base::PathPatterns::Make(rest));
    SKERRY_ASSIGN_OR_RETURN(Paths found, workspace::FindPaths(fd.get(), patterns));
    for (std::string& path : found) path.insert(0, top == "/" ? "/" : top + "/");
    return found;
  }

  base::Status Named(const base::Status& status, const std::string& setting) {
    if (status) return status;
    return base::Err(status.error().code, setting + ": " + status.error().message);
  }

  base::Status Allow(const Paths& patterns, core::BindAccess access, const std::string& setting) {
    for (const std::string& pattern : patterns) {
      const std::string expanded = Expanded(pattern);
      if (!expanded.starts_with('/')) continue;  // in the workspace, which is there and may be written
      SKERRY_ASSIGN_OR_RETURN(const Paths paths, Resolve(expanded));
      if (paths.empty()) rules_.notes_.push_back(std::string(setting).append(": nothing matches ").append(pattern));
      for (const std::string& path : paths) SKERRY_RETURN_IF_ERROR(Named(Bind(path, access, setting), setting));
    }
    return {};
  }

  [[nodiscard]] bool NamedAsDangerous(const std::string& given, const std::string& real) const {
    return std::ranges::any_of(options_.dangerously_allow, [&](const std::string& entry) {
      const std::string path = WithoutEndSlash(Expanded(entry));
      return path == given || path == real;
    });
  }

  base::Status CheckDanger(int fd, const std::string& given, const std::string& real) {
    if (NamedAsDangerous(given, real)) return {};
    constexpr char kAdvice[] = "; if you really mean it, name it in filesystem.dangerouslyAllow too";
    struct stat facts{};
    if (::fstatat(fd, "", &facts, AT_EMPTY_PATH) < 0) return os::ErrnoErr(given);
    if (!S_ISDIR(facts.st_mode) && !S_ISREG(facts.st_mode))
      return base::Err(base::Code::kPermissionDenied,
                       given + ": is a socket or a device, and a way out of the sandbox" + kAdvice);
    const auto fits = workspace::CheckPlace(real, options_.own_directories);
    if (!fits) return base::Err(fits.error().code, fits.error().message + kAdvice);
    return {};
  }

  base::Status Bind(const std::string& path, core::BindAccess access, const std::string& setting) {
    base::UniqueFd fd(::open(path.c_str(), O_PATH | O_CLOEXEC));
    if (!fd.valid() && errno == ENOENT) {
      rules_.notes_.push_back(setting + ": " + path + " does not exist");
      return {};
    }
    if (!fd.valid()) return os::ErrnoErr(path);
    SKERRY_ASSIGN_OR_RETURN(const std::string real, workspace::PathOf(fd.get()));
    SKERRY_RETURN_IF_ERROR(CheckDanger(fd.get(), path, real));
    if (real == "/") return base::Err(base::Code::kInvalidArgument, "the whole root cannot be shown; name directories");
    if (IsOrIsBelow(path, kInside) || IsOrIsBelow(path, "/proc") || IsOrIsBelow(path, "/dev"))
      return base::Err(base::Code::kInvalidArgument, path + ": a sandbox has its own there");
    auto source = std::make_shared<core::HostPlace>();
    source->path = real;
    source->fd = std::move(fd);
    rules_.binds_.push_back({.source = std::move(source), .target = path, .access = access});
    return {};
  }

  // Where a path of the host appears inside, if it does.
  [[nodiscard]] std::optional<std::string> Inside(const std::string& path) const {
    if (!workspace_.empty() && IsOrIsBelow(path, workspace_)) return kInside + path.substr(workspace_.size());
    for (const core::HostBind& bind : rules_.binds_) {
      if (IsOrIsBelow(path, bind.target)) return path;
      const std::string& source = bind.source->path;
      if (IsOrIsBelow(path, source)) return bind.target + path.substr(source.size());
    }
    return IsShownAnyway(path) ? std::optional(path) : std::nullopt;
  }

  base::Status DenyRead() {
    Paths in_workspace;
    for (const std::string& pattern : options_.deny_read) {
      const std::string expanded = Expanded(pattern);
      if (!expanded.starts_with('/')) {
        in_workspace.push_back(expanded);
        continue;
      }
      SKERRY_ASSIGN_OR_RETURN(const Paths paths, Resolve(expanded));
      for (const std::string& path : paths)
        if (const auto inside = Inside(path)) rules_.hidden_.push_back(*inside);
    }
    SKERRY_ASSIGN_OR_RETURN(const auto patterns, base::PathPatterns::Make(in_workspace));
    if (workspace_fd_ < 0 || in_workspace.empty()) return {};
    SKERRY_ASSIGN_OR_RETURN(const Paths found, workspace::FindPaths(workspace_fd_, patterns));
    for (const std::string& path : found) rules_.hidden_.push_back(std::string(kInside) + "/" + path);
    return {};
  }

  // In the workspace such a path is left alone when changes are carried back. In a directory that allowWrite shows, the
  // kernel protects it if it exists.
  base::Status DenyWrite() {
    Paths in_workspace;
    for (const std::string& pattern : options_.deny_write) {
      const std::string expanded = Expanded(pattern);
      if (!expanded.starts_with('/')) {
        in_workspace.push_back(expanded);
      } else if (!workspace_.empty() && expanded.starts_with(workspace_ + "/")) {
        in_workspace.push_back("./" + expanded.substr(workspace_.size() + 1));
      } else {
        SKERRY_RETURN_IF_ERROR(MakeReadOnly(expanded));
      }
    }
    rules_.has_deny_write_ = !in_workspace.empty();
    SKERRY_ASSIGN_OR_RETURN(rules_.deny_write_, base::PathPatterns::Make(in_workspace));
    return {};
  }

  base::Status MakeReadOnly(const std::string& pattern) {
    const auto writable = rules_.binds_;
    SKERRY_ASSIGN_OR_RETURN(const Paths paths, Resolve(pattern));
    for (const std::string& path : paths) {
      const bool shown = std::ranges::any_of(writable, [&](const core::HostBind& bind) {
        return bind.access == core::BindAccess::kReadWrite && IsOrIsBelow(path, bind.target);
      });
      if (shown)
        SKERRY_RETURN_IF_ERROR(
            Named(Bind(path, core::BindAccess::kReadOnly, "filesystem.denyWrite"), "filesystem.denyWrite"));
    }
    return {};
  }

  const FilesystemOptions& options_;
  const std::string& workspace_;
  int workspace_fd_;
  FilesystemRules rules_;
};

base::Result<FilesystemRules> FilesystemRules::Make(const FilesystemOptions& options, const std::string& workspace,
                                                    int workspace_fd) {
  return RulesBuilder(options, workspace, workspace_fd).Build();
}

void FilesystemRules::ApplyTo(core::SandboxSpec& spec) const {
  spec.binds = binds_;
  spec.hidden = hidden_;
}

}  // namespace skerry::engine
