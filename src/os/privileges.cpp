#include "os/privileges.hpp"

#include <grp.h>
#include <linux/capability.h>
#include <linux/securebits.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>

namespace skerry::os {
namespace {

int SetHardLimit(__rlimit_resource_t resource, std::uint64_t value) {
  rlimit limit{value, value};
  // Never above the present hard limit: raising it needs a privilege, and less is as safe.
  rlimit present{};
  if (::getrlimit(resource, &present) == 0 && present.rlim_max < value) limit = {present.rlim_max, present.rlim_max};
  return ::setrlimit(resource, &limit) < 0 ? errno : 0;
}

constexpr unsigned long kLockedSecureBits = SECBIT_NOROOT | SECBIT_NOROOT_LOCKED | SECBIT_NO_SETUID_FIXUP |
                                            SECBIT_NO_SETUID_FIXUP_LOCKED | SECBIT_KEEP_CAPS_LOCKED |
                                            SECBIT_NO_CAP_AMBIENT_RAISE | SECBIT_NO_CAP_AMBIENT_RAISE_LOCKED;

constexpr unsigned long kLastPossible = 63;

// Asked rather than believed: all other protection depends on these two.
bool BoundingSetIsEmpty() {
  for (unsigned long capability = 0; capability <= kLastPossible; ++capability) {
    const int there = ::prctl(PR_CAPBSET_READ, capability, 0UL, 0UL, 0UL);
    if (there > 0) return false;
    if (there < 0) break;  // beyond the newest capability that this kernel knows
  }
  return true;
}

bool SecureBitsAreLocked() {
  return ::prctl(PR_GET_SECUREBITS, 0UL, 0UL, 0UL, 0UL) == static_cast<int>(kLockedSecureBits);
}

constexpr unsigned kCapabilitiesPerWord = 32;

template <class Choose>
int SetEffective(Choose choose) {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  std::array<__user_cap_data_struct, 2> present{};
  if (::syscall(SYS_capget, &header, present.data()) < 0) return errno;
  for (auto& half : present) {
    half.effective = choose(half.permitted);
    half.inheritable = 0;
  }
  return ::syscall(SYS_capset, &header, present.data()) < 0 ? errno : 0;
}

}  // namespace

int EmptyBoundingSet(Effort effort) {
  // The kernel refuses numbers beyond its newest capability as invalid; without the privilege it refuses all, and then
  // the set cannot be used either.
  for (unsigned long capability = 0; capability <= kLastPossible; ++capability)
    if (::prctl(PR_CAPBSET_DROP, capability, 0UL, 0UL, 0UL) < 0 && errno == EINVAL) break;
  return effort == Effort::kMust && !BoundingSetIsEmpty() ? EPERM : 0;
}

int DropAllCapabilities(Effort effort) {
  if (const int error = EmptyBoundingSet(effort); error != 0) return error;
  if (::prctl(PR_SET_SECUREBITS, kLockedSecureBits, 0UL, 0UL, 0UL) < 0 && errno != EPERM) return errno;
  if (effort == Effort::kMust && !SecureBitsAreLocked()) return EPERM;
  if (::prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0UL, 0UL, 0UL) < 0 && errno != EINVAL) return errno;
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  std::array<__user_cap_data_struct, 2> none{};
  return ::syscall(SYS_capset, &header, none.data()) < 0 ? errno : 0;
}

int SetNoNewPrivileges() {
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1UL, 0UL, 0UL, 0UL) < 0 ? errno : 0;
}

int ApplyProcessLimits(const ProcessLimits& limits) {
  constexpr std::uint64_t kLockedBytes = 64U << 10U;
  constexpr std::uint64_t kPendingSignals = 1024;
  struct Row {
    __rlimit_resource_t resource;
    std::uint64_t value;
    bool wanted;
  };
  const std::array rows = {
      Row{RLIMIT_CORE, 0, true},
      Row{RLIMIT_NOFILE, limits.open_files, true},
      Row{RLIMIT_FSIZE, limits.file_bytes, limits.file_bytes != 0},
      Row{RLIMIT_NPROC, limits.processes, limits.processes != 0},
      Row{RLIMIT_DATA, limits.data_bytes, limits.data_bytes != 0},
      Row{RLIMIT_MEMLOCK, kLockedBytes, true},
      Row{RLIMIT_MSGQUEUE, 0, true},
      Row{RLIMIT_RTPRIO, 0, true},
      Row{RLIMIT_NICE, 0, true},
      Row{RLIMIT_SIGPENDING, kPendingSignals, true},
  };
  for (const Row& row : rows) {
    if (!row.wanted) continue;
    if (const int error = SetHardLimit(row.resource, row.value); error != 0) return error;
  }
  return 0;
}

int BecomeUser(uid_t user, gid_t group, Effort groups) {
  // EPERM where setgroups is denied (a plain user's namespace): those groups are unmapped and only matter for mounted
  // files.
  if (::setgroups(0, nullptr) < 0 && (errno != EPERM || groups == Effort::kMust)) return errno;
  if (::setresgid(group, group, group) < 0) return errno;
  return ::setresuid(user, user, user) < 0 ? errno : 0;
}

int BecomeUserWith(uid_t user, gid_t group, std::initializer_list<int> capabilities) {
  if (::geteuid() != 0) return 0;
  if (::prctl(PR_SET_KEEPCAPS, 1UL, 0UL, 0UL, 0UL) < 0) return errno;
  if (const int error = BecomeUser(user, group, Effort::kMust); error != 0) return error;
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  std::array<__user_cap_data_struct, 2> kept{};
  for (const int capability : capabilities) {
    auto& half = kept[static_cast<std::size_t>(capability) / kCapabilitiesPerWord];
    const std::uint32_t bit = 1U << (static_cast<unsigned>(capability) % kCapabilitiesPerWord);
    half.permitted |= bit;
    half.effective |= bit;
    half.inheritable |= bit;
  }
  if (::syscall(SYS_capset, &header, kept.data()) < 0) return errno;
  for (const int capability : capabilities)
    if (::prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, static_cast<unsigned long>(capability), 0UL, 0UL) < 0)
      return errno;
  return 0;
}

int ParkCapabilities() {
  if (::prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0UL, 0UL, 0UL) < 0 && errno != EINVAL) return errno;
  return SetEffective([](std::uint32_t) { return 0U; });
}

int RaiseParkedCapabilities() {
  return SetEffective([](std::uint32_t permitted) { return permitted; });
}

EffectiveUser::EffectiveUser(uid_t user) {
  if (::geteuid() != 0) return;
  // Without this bit the kernel drops the capabilities when the user changes.
  ::prctl(PR_SET_SECUREBITS, SECBIT_NO_SETUID_FIXUP, 0UL, 0UL, 0UL);
  // By the raw system call: the library's wrapper may send signals to threads.
  changed_ = ::syscall(SYS_setresuid, -1, user, -1) == 0;
}

EffectiveUser::~EffectiveUser() {
  if (changed_) (void)::syscall(SYS_setresuid, -1, 0, -1);
  ::prctl(PR_SET_SECUREBITS, 0UL, 0UL, 0UL, 0UL);
}

}  // namespace skerry::os
