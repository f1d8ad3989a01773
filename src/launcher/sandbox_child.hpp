// The child between clone and exec. It owns nothing and allocates nothing: everything it needs was made before, every
// failure is one message on the report socket, and no way leads back.
#pragma once

#include <sys/types.h>

#include <array>
#include <cstdint>
#include <span>
#include <string>

#include "launcher/fence.hpp"
#include "launcher/host_tree.hpp"
#include "launcher/mount_plan.hpp"
#include "launcher/protocol.hpp"
#include "os/privileges.hpp"

namespace skerry::launcher {

class MachineFacts;

// Inside of every sandbox programs run as this user, whoever they are outside.
inline constexpr uid_t kAgentId = 1000;

// Open directories of a sandbox whose workspace is not direct; the first two keep the workspace alive when the sandbox
// is gone.
struct WorkspaceViews {
  int changes = -1;  // what programs wrote: an overlay's upper layer, or all there is when nothing was below
  int merged = -1;   // the workspace as programs see it
  int root = -1;     // everything that programs see (O_PATH)
};

enum class RootState : std::uint8_t {
  kToBuild,   // in a copy of the launcher's mount namespace
  kTemplate,  // in a copy of the template's: the shared part is there
};

struct ChildPlan {
  Isolation isolation = Isolation::kNamespaces;
  int report = -1;   // to the launcher; close-on-exec
  int control = -1;  // becomes descriptor 3 of init
  std::array<int, 2> launchers_ends = {
      -1, -1};  // the launcher's ends of these two sockets: closed in the child, so that it sees when the launcher ends
  int init = -1;  // the program to become
  std::span<const int> join_cgroups;

  uid_t user = 0;  // as seen from inside
  gid_t group = 0;
  os::Effort effort_as_root = os::Effort::kMust;  // for steps that a plain user cannot take

  std::span<const HostTree> trees;
  RootState root = RootState::kToBuild;
  std::span<const MountStep> shared_mounts;
  std::span<const MountStep> fixed_mounts;  // after the shared ones
  std::span<const MountStep> mounts;        // after the fixed ones
  std::span<const std::string> hidden;
  const char* root_mount_point = nullptr;

  bool hand_out_diagnosis = false;  // where no cgroup counts what sockets hold

  Fence fence;

  // Not null: no client has asked for the sandbox yet. When everything fixed is there, the child waits for its
  // furnishing, which brings the trees, the mounts and the fence. Points to what the launcher knew when the child was
  // made.
  MachineFacts* vacant = nullptr;
};

[[noreturn]] void RunSandboxChild(const ChildPlan& plan);

}  // namespace skerry::launcher
