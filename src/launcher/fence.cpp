#include "launcher/fence.hpp"

#include <linux/keyctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>

#include "os/seccomp.hpp"

namespace skerry::launcher {
namespace {

constexpr std::array kNamespaceRules = {
    os::LandlockRule{.path = "/", .grant = os::LandlockGrant::kReadAndExecute},
    os::LandlockRule{.path = "/workspace", .grant = os::LandlockGrant::kReadWrite},
    os::LandlockRule{.path = "/tmp", .grant = os::LandlockGrant::kReadWrite},
    os::LandlockRule{.path = "/home/agent", .grant = os::LandlockGrant::kReadWrite},
    os::LandlockRule{.path = "/dev/shm", .grant = os::LandlockGrant::kReadWrite},
    os::LandlockRule{.path = "/dev", .grant = os::LandlockGrant::kDevices},
    os::LandlockRule{.path = "/proc", .grant = os::LandlockGrant::kProcess},
};

}  // namespace

std::span<const os::LandlockRule> NamespaceRules() {
  return kNamespaceRules;
}

int PutUpFence(const Fence& fence, const char*& step) {
  // Open files, core files, priorities, locked memory, queues (F06, F08, D09, F09).
  step = "set process limits";
  if (const int error = os::ApplyProcessLimits(fence.limits); error != 0) return error;
  // A new session keyring (E03); where keys are refused altogether there is none to leave.
  ::syscall(SYS_keyctl, KEYCTL_JOIN_SESSION_KEYRING, nullptr);
  // Without capabilities nothing can be mounted, traced, loaded or made as a device, and none can be regained (A18,
  // A21, B15, C12).
  step = "drop capabilities";
  const auto effort = fence.isolation == Isolation::kNamespaces ? os::Effort::kMust : os::Effort::kAsFarAsPossible;
  if (const int error = os::DropAllCapabilities(effort); error != 0) return error;
  // Set-uid programs give no rights, and the filter below may be installed without privilege.
  step = "set no_new_privs";
  if (const int error = os::SetNoNewPrivileges(); error != 0) return error;
  // A second fence around files, abstract sockets and signals, in case a mount or a namespace fails (A02, D01, G51).
  step = "apply Landlock";
  const auto network = fence.isolation == Isolation::kNone ? os::LandlockNetwork::kNoTcp : os::LandlockNetwork::kAnyTcp;
  if (const int error = os::ApplyLandlock(fence.landlock_abi, fence.landlock_rules, network); error != 0) return error;
  // Last, since it forbids most of the steps above (all rows C and E).
  step = "install seccomp filter";
  return os::InstallFilter(fence.filter);
}

}  // namespace skerry::launcher
