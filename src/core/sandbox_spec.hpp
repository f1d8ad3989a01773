// What a sandbox is to be like. A value: all that a backend needs to make a sandbox.
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
  std::uint64_t disk_mb = 1024;  // for what programs write to the workspace
  std::uint64_t disk_files = 65'536;

  bool operator==(const SandboxLimits&) const = default;
};

// A file or directory of the host, for backends that share it. It is held open, because its name can be exchanged; a
// backend that can use the descriptor in place of the path does.
struct HostPlace {
  std::string path;  // absolute and real
  base::UniqueFd fd;
};
using SharedPlace = std::shared_ptr<const HostPlace>;

enum class WorkspaceOwner {
  kSkerry,  // made for this sandbox
  kPerson,  // a person's directory
};

// What becomes of changes in a workspace directory.
enum class WorkspaceChanges {
  kApart,    // they stay in a layer of the sandbox until a caller commits them
  kInPlace,  // programs write to the directory itself
};

// A file or directory of the host that a sandbox sees besides its workspace.
enum class BindAccess { kReadOnly, kReadWrite };
struct HostBind {
  SharedPlace source;
  std::string target;  // absolute, as programs see it
  BindAccess access = BindAccess::kReadOnly;
};

// A root file system in place of the host's programs. The owner of `directory` keeps it as long as the place is held.
struct RootFileSystem {
  SharedPlace directory;
  std::vector<std::string> environment;  // "NAME=value"
};

// Which hosts programs may reach (S5.8). Without a domain a sandbox has no network but its own loopback.
struct NetworkPolicy {
  std::vector<std::string> allowed_domains;
  std::vector<std::string> denied_domains;  // win over allowed_domains
  bool allow_local_binding = false;

  [[nodiscard]] bool HasNone() const { return allowed_domains.empty() && !allow_local_binding; }
  bool operator==(const NetworkPolicy&) const = default;
};

// An interpreter that waits in the sandbox from its start, for the first program in that language.
enum class Preload { kNone, kShell, kPython, kPythonData, kJavaScript };
std::string_view NameOf(Preload kind);

// What a backend does when the machine cannot keep a limit: goes on without it, or fails.
enum class Demand { kWhatIsPossible, kEverything };

// A backend refuses what it cannot do (core/abilities.hpp) with kUnavailable.
struct SandboxSpec {
  // A directory of the host as the workspace: for backends whose workspace is layered or in place. None: an empty
  // workspace of the sandbox's own that is gone with it, to be filled through SandboxFiles.
  SharedPlace workspace;
  WorkspaceOwner workspace_owner = WorkspaceOwner::kSkerry;
  WorkspaceChanges workspace_changes = WorkspaceChanges::kApart;
  std::vector<HostBind> binds;
  std::vector<std::string> hidden;  // absolute paths, as programs see them, that may not be read
  std::optional<RootFileSystem> root;
  std::string image;  // the image's name, for backends with images of their own; "" for the usual one
  NetworkPolicy network;
  std::vector<std::uint16_t> ports;  // the ports inside that Sandbox::Connect will be asked for
  SandboxLimits limits;
  Demand demand = Demand::kEverything;
  Preload preload = Preload::kNone;  // as far as the backend can
};

}  // namespace skerry::core
