// Landlock: a second fence inside the mount namespace, kept by the kernel even if a mount slips through.
#pragma once

#include <cstdint>
#include <span>

namespace skerry::os {

// 0 when this kernel has none (or it is switched off at boot).
int LandlockAbi();

enum class LandlockGrant {
  kReadAndExecute,  // look, read, run
  kReadWrite,       // everything but devices
  kDevices,         // read and write device files and talk to them
  kProcess,         // read, and write files that exist (/proc/self/…)
};

struct LandlockRule {
  const char* path = nullptr;  // either a path, where a missing one is passed over,
  int fd = -1;                 // or an open file or directory
  LandlockGrant grant = LandlockGrant::kReadAndExecute;
};

enum class LandlockNetwork { kAnyTcp, kNoTcp };

// Restricts this process and all it starts to `rules`, as far as `abi` reaches: files always; with ABI 4 TCP when
// asked; with ABI 6 signals and abstract unix sockets stay inside. After clone: no allocation. 0 or an errno; abi 0
// does nothing.
int ApplyLandlock(int abi, std::span<const LandlockRule> rules, LandlockNetwork network);

}  // namespace skerry::os
