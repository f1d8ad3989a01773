// What the sandboxes of a backend can do. The engine asks; it infers nothing from a backend's strength or name.
#pragma once

#include <string_view>

namespace skerry::core {

// How well a sandbox keeps a hostile program in, from the weakest to the strongest: compared with >=.
enum class Strength {
  kNone,            // nothing stands between the program and the machine
  kProcess,         // limits and filters around an ordinary process
  kNamespaces,      // a kernel's namespaces, with everything else of the host hidden
  kUserKernel,      // a kernel in user space answers the program's system calls
  kVirtualMachine,  // a kernel of its own
};
std::string_view NameOf(Strength strength);

// Where the files of a workspace are while programs run on them.
enum class WorkspaceKind {
  kLayered,  // on the host, below a layer that takes the changes until a caller commits them
  kInPlace,  // on the host: programs write to the directory itself
  kRemote,   // elsewhere, or not to be reached by a path of the host: through SandboxFiles only
};
std::string_view NameOf(WorkspaceKind kind);

// Which other programs a sandbox can have in place of its usual ones.
enum class ImageKind {
  kNone,
  kRootFileSystem,  // a directory of the host (SandboxSpec::root)
  kNamed,           // the backend knows images by name (SandboxSpec::image)
};

struct Abilities {
  Strength strength = Strength::kNone;
  WorkspaceKind workspace = WorkspaceKind::kInPlace;
  ImageKind images = ImageKind::kNone;
  bool contexts = false;   // Sandbox::contexts
  bool terminals = false;  // Command::terminal
  bool pause = false;      // Sandbox::pausing, where the machine lets it
  bool binds = false;      // SandboxSpec::binds and hidden
  bool cpu_quota = false;  // SandboxLimits::cpu_percent
  bool preload = false;    // SandboxSpec::preload: a sandbox kept ready is quicker than one made on demand
  bool egress = false;     // SandboxSpec::network
  bool ports = false;      // Sandbox::Connect

  bool operator==(const Abilities&) const = default;
};

}  // namespace skerry::core
