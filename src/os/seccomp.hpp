// Seccomp filters as data: a table of system calls becomes a program that the kernel runs before each of them.
#pragma once

#include <linux/filter.h>
#include <sys/stat.h>

#include <cstdint>
#include <span>
#include <vector>

namespace skerry::os {

enum class SyscallAction {
  kAllow,
  kRefuse,       // EPERM: known and dangerous
  kNotThere,     // ENOSYS: programs fall back to what they did before the call existed
  kCheckClone,   // no namespaces
  kCheckSocket,  // unix, internet without raw, route netlink
  kCheckIoctl,   // no terminal injection, no files whose accesses leave no stamp
  kCheckPersonality,
  kCheckSeccomp,     // no listener that could answer for a supervisor
  kCheckSocketPair,  // unix only
  kCheckMemoryFile,  // no huge pages, which no cgroup counts
  kCheckControl,     // prctl: no merging of memory with others
  kCheckLimits,      // prlimit64: of the caller alone, so not of the init
  kCheckModeAt1,     // no set-user-id and set-group-id in a mode: such a file in a person's directory would be an
  kCheckModeAt2,     // escape as soon as somebody on the host runs it
  kCheckOpenAt1,     // the same for open, whose mode counts only when it creates; flags at 1 or 2, mode behind them.
  kCheckOpenAt2,  // And nothing is opened for writing without a stamp: a commit tells by it who may have mapped a file
  kCheckFileFlags,     // fcntl: likewise
  kCheckMap,           // no huge pages: they lie outside of the memory limit
  kCheckSharedMemory,  // likewise
  kCheckAdvice,        // no merging of pages with those of others
  kCheckMessageAt2,    // no out-of-band data, no pinned pages; flags at 2 or 3
  kCheckMessageAt3,
  kCheckSocketQuery,
  kCheckSocketOption,  // no large buffers, no programs in the kernel
};

struct SyscallRule {
  int number = 0;
  SyscallAction action = SyscallAction::kAllow;
};

// The rules every sandbox lives under; what is not named is kNotThere. See ATTACKS.md, rows C and E.
std::span<const SyscallRule> SandboxSyscalls();

// What differs from sandbox to sandbox.
struct FilterOptions {
  // Mode bits that no file may be given. Where nothing of the host can be written directly, the set-group-id bit is
  // harmless, and programs copy it along with directories.
  std::uint32_t refused_mode_bits = S_ISUID | S_ISGID;
  // Whether memory that no process maps (memory files, large System V segments) counts for the memory limit. Where it
  // does not count, programs get none of it.
  enum class UnmappedMemory { kCounted, kNotCounted } unmapped_memory = UnmappedMemory::kCounted;

  bool operator==(const FilterOptions&) const = default;
};

// A foreign architecture (ia32 through `int 0x80`, E24) or x32 number (E25) kills the process. The rest is a binary
// search over the numbers, so that the kernel's own pre-computation at installation stays short.
std::vector<sock_filter> CompileFilter(std::span<const SyscallRule> rules, FilterOptions options = {});

// After clone: no allocation. 0 or an errno. Needs no_new_privs.
int InstallFilter(std::span<const sock_filter> program);

}  // namespace skerry::os
