// What a sandbox is to be like. A value: whoever makes a sandbox keeps nothing but this.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/unique_fd.hpp"

namespace skerry::core {

struct SandboxLimits {
  std::uint64_t memory_mb = 512;
  std::uint64_t pids = 256;
  std::uint64_t cpu_percent = 0;  // 0: no quota
  std::uint64_t open_files = 1024;
  std::uint64_t file_mb = 1024;
  std::uint64_t tmp_mb = 64;
  std::uint64_t disk_mb = 1024;  // of what is written to the workspace
  std::uint64_t disk_files = 65'536;

  bool operator==(const SandboxLimits&) const = default;
};

// A file or directory of the host, for backends that share it. It is held open: its name can be exchanged, and a
// backend that can use the descriptor in place of the path does.
struct HostPlace {
  std::string path;  // absolute and real
  base::UniqueFd fd;
};
using SharedPlace = std::shared_ptr<const HostPlace>;

enum class WorkspaceOwner {
  kSkerry,  // made for this sandbox
  kPerson,  // somebody's directory
};

// What becomes of changes in a workspace directory.
enum class WorkspaceChanges {
  kApart,    // they stay in a layer of the sandbox until somebody commits them
  kInPlace,  // programs write to the directory itself
};

// A file or directory of the host that a sandbox sees besides its workspace.
enum class BindAccess { kReadOnly, kReadWrite };
struct HostBind {
  SharedPlace source;
  std::string target;  // absolute, inside
  BindAccess access = BindAccess::kReadOnly;
};

// A root file system in place of the host's programs. Whoever `directory` belongs to keeps it as long as it is held.
struct RootFileSystem {
  SharedPlace directory;
  std::vector<std::string> environment;  // "NAME=value"
};

// Whom programs may reach (S5.8). Without a domain a sandbox has no network but its own loopback.
struct NetworkPolicy {
  std::vector<std::string> allowed_domains;
  std::vector<std::string> denied_domains;  // these win
  bool allow_local_binding = false;

  [[nodiscard]] bool HasNone() const { return allowed_domains.empty() && !allow_local_binding; }
  bool operator==(const NetworkPolicy&) const = default;
};

// An interpreter that a sandbox has waiting from its start, for the first program in that language.
enum class Preload { kNone, kShell, kPython, kPythonData, kJavaScript };
std::string_view NameOf(Preload kind);

// When the machine cannot keep a limit that was asked for.
enum class Demand { kWhatIsPossible, kEverything };

// A backend refuses what it cannot do (core/abilities.hpp) with kUnavailable.
struct SandboxSpec {
  // A directory of the host as the workspace: of backends whose workspace is layered or in place. None: an empty
  // workspace of the sandbox's own that is gone with it, to be filled through SandboxFiles.
  SharedPlace workspace;
  WorkspaceOwner workspace_owner = WorkspaceOwner::kSkerry;
  WorkspaceChanges workspace_changes = WorkspaceChanges::kApart;
  std::vector<HostBind> binds;
  std::vector<std::string> hidden;  // absolute paths inside that may not be read
  std::optional<RootFileSystem> root;
  std::string image;  // its name, for backends that have images of their own; "" for the usual one
  NetworkPolicy network;
  std::vector<std::uint16_t> ports;  // inside, that Sandbox::Connect will be asked for
  SandboxLimits limits;
  Demand demand = Demand::kEverything;
  Preload preload = Preload::kNone;  // as far as the backend can
};

}  // namespace skerry::core
