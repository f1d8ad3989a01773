#include "os/seccomp.hpp"

#include <fcntl.h>
#include <linux/audit.h>
#include <linux/fs.h>
#include <linux/seccomp.h>
#include <netinet/in.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <map>
#include <optional>

namespace skerry::os {
namespace {

using Program = std::vector<sock_filter>;

constexpr std::uint32_t kAllow = SECCOMP_RET_ALLOW;
constexpr std::uint32_t kKill = SECCOMP_RET_KILL_PROCESS;
constexpr std::uint32_t kX32Bit = 0x40000000;
#if defined(__x86_64__)
constexpr std::uint32_t kArchitecture = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
constexpr std::uint32_t kArchitecture = AUDIT_ARCH_AARCH64;
#else
#error "Skerry runs on x86-64 and arm64"
#endif

constexpr std::uint32_t Errno(int error) {
  return SECCOMP_RET_ERRNO | (static_cast<std::uint32_t>(error) & SECCOMP_RET_DATA);
}

sock_filter Statement(unsigned code, std::uint32_t k) {
  return {static_cast<std::uint16_t>(code), 0, 0, k};
}

sock_filter Jump(unsigned comparison, std::uint32_t k, unsigned if_true, unsigned if_false) {
  return {static_cast<std::uint16_t>(BPF_JMP | comparison | BPF_K), static_cast<std::uint8_t>(if_true),
          static_cast<std::uint8_t>(if_false), k};
}

sock_filter Load(std::size_t offset) {
  return Statement(BPF_LD | BPF_W | BPF_ABS, static_cast<std::uint32_t>(offset));
}

// Both architectures are little-endian: the low word of an argument comes first, and the kernel takes the arguments
// that are checked here as 32-bit values.
enum class Half { kLow, kHigh };
sock_filter LoadArgument(std::size_t index, Half half = Half::kLow) {
  const std::size_t offset = half == Half::kLow ? 0 : sizeof(std::uint32_t);
  return Load(offsetof(seccomp_data, args) + index * sizeof(std::uint64_t) + offset);
}

sock_filter Return(std::uint32_t value) {
  return Statement(BPF_RET | BPF_K, value);
}

Program CheckSocket() {
  constexpr std::uint32_t kTypeMask = 0xF;
  constexpr std::uint32_t kNetlinkRoute = 0;
  return {
      LoadArgument(0),
      Jump(BPF_JEQ, AF_UNIX, 15, 0),
      Jump(BPF_JEQ, AF_INET, 3, 0),
      Jump(BPF_JEQ, AF_INET6, 2, 0),
      Jump(BPF_JEQ, AF_NETLINK, 9, 0),
      Return(Errno(EAFNOSUPPORT)),
      LoadArgument(1),  // internet: streams and datagrams
      Statement(BPF_ALU | BPF_AND | BPF_K, kTypeMask),
      Jump(BPF_JEQ, SOCK_STREAM, 1, 0),
      Jump(BPF_JEQ, SOCK_DGRAM, 0, 6),
      LoadArgument(2),  // by TCP and UDP, not by other protocols of the kernel
      Jump(BPF_JEQ, 0, 5, 0),
      Jump(BPF_JEQ, IPPROTO_TCP, 4, 0),
      Jump(BPF_JEQ, IPPROTO_UDP, 3, 2),
      LoadArgument(2),  // netlink: routes, which getifaddrs reads
      Jump(BPF_JEQ, kNetlinkRoute, 1, 0),
      Return(Errno(EPERM)),
      Return(kAllow),
  };
}

// Refused when argument `index` has any of `bits`.
Program RefuseBits(std::size_t index, std::uint32_t bits, int error = EPERM) {
  return {LoadArgument(index), Jump(BPF_JSET, bits, 0, 1), Return(Errno(error)), Return(kAllow)};
}

// Allowed only when argument `index` is `value`, else refused with `error`.
Program RequireValue(std::size_t index, std::uint32_t value, int error) {
  return {LoadArgument(index), Jump(BPF_JEQ, value, 1, 0), Return(Errno(error)), Return(kAllow)};
}

Program CheckClone() {
  constexpr std::uint32_t kNamespaces =
      CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET;
  // CLONE_PARENT is refused too: the parent of a process that a zygote forked is the launcher, which would get children
  // that it does not know, and the sandbox cannot end before they are reaped.
  return RefuseBits(0, kNamespaces | CLONE_PARENT);
}

Program CheckControl() {
  constexpr std::uint32_t kSetMemoryMerge = 67;  // PR_SET_MEMORY_MERGE, newer than the headers
  return {LoadArgument(0), Jump(BPF_JEQ, kSetMemoryMerge, 0, 1), Return(Errno(EPERM)), Return(kAllow)};
}

// `flags` is the index of the flags; the mode follows them and counts only when a file may be made. With O_NOATIME a
// file may be read, as some programs do with directories, but not written: the kernel itself answers EPERM to a process
// that does not own the file.
Program CheckOpen(std::size_t flags, const FilterOptions& options) {
  constexpr std::uint32_t kMakes = O_CREAT | (O_TMPFILE & ~O_DIRECTORY);
  return {LoadArgument(flags),          Jump(BPF_JSET, O_NOATIME, 0, 1),
          Jump(BPF_JSET, O_RDWR, 3, 0), Jump(BPF_JSET, kMakes, 0, 3),
          LoadArgument(flags + 1),      Jump(BPF_JSET, options.refused_mode_bits, 0, 1),
          Return(Errno(EPERM)),         Return(kAllow)};
}

Program CheckFileFlags() {
  return {LoadArgument(1),      Jump(BPF_JEQ, F_SETFL, 0, 3),
          LoadArgument(2),      Jump(BPF_JSET, O_NOATIME, 0, 1),
          Return(Errno(EPERM)), Return(kAllow)};
}

// Refuses injected terminal input, and attributes of files, which a tmpfs has from Linux 6.6 on; before, a tmpfs gives
// the same error.
Program CheckIoctl() {
  constexpr auto kSetFlags = static_cast<std::uint32_t>(FS_IOC_SETFLAGS);
  constexpr auto kSetAttributes = static_cast<std::uint32_t>(FS_IOC_FSSETXATTR);
  return {LoadArgument(1),
          Jump(BPF_JEQ, TIOCSTI, 6, 0),
          Jump(BPF_JEQ, TIOCLINUX, 5, 0),
          Jump(BPF_JEQ, TIOCSETD, 4, 0),
          Jump(BPF_JEQ, kSetFlags, 2, 0),
          Jump(BPF_JEQ, kSetAttributes, 1, 0),
          Return(kAllow),
          Return(Errno(ENOTTY)),
          Return(Errno(EPERM))};
}

Program CheckPersonality() {
  constexpr std::uint32_t kQuery = 0xFFFFFFFF;
  return {LoadArgument(0), Jump(BPF_JEQ, 0, 1, 0), Jump(BPF_JEQ, kQuery, 0, 1), Return(kAllow), Return(Errno(EPERM))};
}

Program CheckSeccomp() {
  return RefuseBits(1, SECCOMP_FILTER_FLAG_NEW_LISTENER);
}

bool NotCounted(const FilterOptions& options) {
  return options.unmapped_memory == FilterOptions::UnmappedMemory::kNotCounted;
}

// Where a segment does not count as memory, only small ones are allowed, of which the kernel gives out 4096 at most.
Program CheckSharedMemory(const FilterOptions& options) {
  constexpr std::uint32_t kSmall = 64U << 10U;
  if (!NotCounted(options)) return RefuseBits(2, SHM_HUGETLB);
  return {LoadArgument(2), Jump(BPF_JSET, SHM_HUGETLB, 5, 0), LoadArgument(1, Half::kHigh), Jump(BPF_JEQ, 0, 0, 2),
          LoadArgument(1), Jump(BPF_JGT, kSmall, 0, 2),       Return(Errno(ENOSPC)),        Return(Errno(EPERM)),
          Return(kAllow)};
}

// Out-of-band data on unix sockets (CVE-2025-38236), pages of the program that the kernel keeps, memory of devices.
constexpr std::uint32_t kRefusedMessageFlags = MSG_OOB | 0x4000000 /* MSG_ZEROCOPY */ | 0x2000000 /* MSG_SOCK_DEVMEM */;

// Handles on the process at the other end, which may be one of the host; newer than the headers.
constexpr std::uint32_t kPassPidFd = 76;
constexpr std::uint32_t kPeerPidFd = 77;

Program CheckSocketQuery() {
  constexpr std::uint32_t kTcpZeroCopyReceive = 35;
  return {LoadArgument(1),
          Jump(BPF_JEQ, SOL_SOCKET, 3, 0),
          Jump(BPF_JEQ, IPPROTO_TCP, 0, 4),
          LoadArgument(2),
          Jump(BPF_JEQ, kTcpZeroCopyReceive, 3, 2),
          LoadArgument(2),
          Jump(BPF_JEQ, kPeerPidFd, 2, 0),
          Return(kAllow),
          Return(Errno(EPERM)),
          Return(Errno(ENOPROTOOPT))};
}

// Other sizes of buffers are accepted and ignored: programs ask for them only to be faster. Filters that the kernel
// would run, other protocols on top of TCP, and internals of the kernel are refused.
Program CheckSocketOption() {
  constexpr std::uint32_t kTcpRepair = 19;
  constexpr std::uint32_t kTcpUpperProtocol = 31;
  constexpr std::uint32_t kDeviceMemoryDone = 80;
  return {
      LoadArgument(1),
      Jump(BPF_JEQ, SOL_SOCKET, 0, 13),
      LoadArgument(2),
      Jump(BPF_JEQ, SO_SNDBUF, 16, 0),
      Jump(BPF_JEQ, SO_RCVBUF, 15, 0),
      Jump(BPF_JEQ, SO_SNDBUFFORCE, 15, 0),
      Jump(BPF_JEQ, SO_RCVBUFFORCE, 14, 0),
      Jump(BPF_JEQ, SO_ATTACH_FILTER, 13, 0),
      Jump(BPF_JEQ, SO_ATTACH_BPF, 12, 0),
      Jump(BPF_JEQ, SO_ATTACH_REUSEPORT_CBPF, 11, 0),
      Jump(BPF_JEQ, SO_ATTACH_REUSEPORT_EBPF, 10, 0),
      Jump(BPF_JEQ, SO_ZEROCOPY, 9, 0),
      Jump(BPF_JEQ, kDeviceMemoryDone, 8, 0),
      Jump(BPF_JEQ, kPassPidFd, 7, 0),
      Return(kAllow),
      Jump(BPF_JEQ, IPPROTO_TCP, 0, 3),
      LoadArgument(2),
      Jump(BPF_JEQ, kTcpUpperProtocol, 3, 0),
      Jump(BPF_JEQ, kTcpRepair, 2, 0),
      Return(kAllow),
      Return(Errno(0)),
      Return(Errno(EPERM)),
  };
}

Program Block(SyscallAction action, const FilterOptions& options) {
  switch (action) {
    case SyscallAction::kAllow:
      return {Return(kAllow)};
    case SyscallAction::kRefuse:
      return {Return(Errno(EPERM))};
    case SyscallAction::kNotThere:
      return {Return(Errno(ENOSYS))};
    case SyscallAction::kCheckClone:
      return CheckClone();
    case SyscallAction::kCheckSocket:
      return CheckSocket();
    case SyscallAction::kCheckIoctl:
      return CheckIoctl();
    case SyscallAction::kCheckPersonality:
      return CheckPersonality();
    case SyscallAction::kCheckSeccomp:
      return CheckSeccomp();
    case SyscallAction::kCheckSocketPair:
      return RequireValue(0, AF_UNIX, EAFNOSUPPORT);
    case SyscallAction::kCheckMemoryFile:
      return NotCounted(options) ? Program{Return(Errno(ENOSYS))} : RefuseBits(1, MFD_HUGETLB);
    case SyscallAction::kCheckControl:
      return CheckControl();
    case SyscallAction::kCheckLimits:
      return RequireValue(0, 0, EPERM);
    case SyscallAction::kCheckModeAt1:
      return RefuseBits(1, options.refused_mode_bits);
    case SyscallAction::kCheckModeAt2:
      return RefuseBits(2, options.refused_mode_bits);
    case SyscallAction::kCheckOpenAt1:
      return CheckOpen(1, options);
    case SyscallAction::kCheckOpenAt2:
      return CheckOpen(2, options);
    case SyscallAction::kCheckFileFlags:
      return CheckFileFlags();
    case SyscallAction::kCheckMap:
      return RefuseBits(3, MAP_HUGETLB);
    case SyscallAction::kCheckSharedMemory:
      return CheckSharedMemory(options);
    case SyscallAction::kCheckAdvice:
      return {LoadArgument(2), Jump(BPF_JEQ, MADV_MERGEABLE, 0, 1), Return(Errno(EINVAL)), Return(kAllow)};
    case SyscallAction::kCheckMessageAt2:
      return RefuseBits(2, kRefusedMessageFlags, EOPNOTSUPP);
    case SyscallAction::kCheckMessageAt3:
      return RefuseBits(3, kRefusedMessageFlags, EOPNOTSUPP);
    case SyscallAction::kCheckSocketQuery:
      return CheckSocketQuery();
    case SyscallAction::kCheckSocketOption:
      return CheckSocketOption();
  }
  return {Return(kKill)};
}

// The numbers from `first` up to the next run share one action.
struct Run {
  std::uint32_t first = 0;
  SyscallAction action = SyscallAction::kNotThere;
};

std::vector<Run> RunsOf(std::span<const SyscallRule> rules) {
  std::map<std::uint32_t, SyscallAction> actions;
  for (const SyscallRule& rule : rules) actions[static_cast<std::uint32_t>(rule.number)] = rule.action;
  std::vector<Run> runs = {{0, SyscallAction::kNotThere}};
  const auto begin = [&runs](std::uint32_t first, SyscallAction action) {
    if (runs.back().first == first) runs.pop_back();
    if (runs.empty() || runs.back().action != action) runs.push_back({first, action});
  };
  std::optional<std::uint32_t> previous;
  for (const auto& [number, action] : actions) {
    if (previous.has_value() && number != *previous + 1) begin(*previous + 1, SyscallAction::kNotThere);
    begin(number, action);
    previous = number;
  }
  if (previous.has_value()) begin(*previous + 1, SyscallAction::kNotThere);
  return runs;
}

// Each leaf has its own copy of its block: conditional jumps reach only 255 instructions, and most blocks have one.
Program SearchTree(std::span<const Run> runs, const FilterOptions& options) {
  if (runs.size() == 1) return Block(runs.front().action, options);
  const std::size_t middle = runs.size() / 2;
  const Program below = SearchTree(runs.first(middle), options);
  const Program above = SearchTree(runs.subspan(middle), options);
  Program tree = {Jump(BPF_JGE, runs[middle].first, 0, 1),
                  Statement(BPF_JMP | BPF_JA, static_cast<std::uint32_t>(below.size()))};
  tree.insert(tree.end(), below.begin(), below.end());
  tree.insert(tree.end(), above.begin(), above.end());
  return tree;
}

}  // namespace

std::vector<sock_filter> CompileFilter(std::span<const SyscallRule> rules, FilterOptions options) {
  Program program = {Load(offsetof(seccomp_data, arch)), Jump(BPF_JEQ, kArchitecture, 1, 0), Return(kKill),
                     Load(offsetof(seccomp_data, nr)),   Jump(BPF_JGE, kX32Bit, 0, 1),       Return(kKill)};
  const std::vector<Run> runs = RunsOf(rules);
  const Program tree = SearchTree(runs, options);
  program.insert(program.end(), tree.begin(), tree.end());
  return program;
}

int InstallFilter(std::span<const sock_filter> program) {
  const sock_fprog description{static_cast<unsigned short>(program.size()), const_cast<sock_filter*>(program.data())};
  return ::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0U, &description) < 0 ? errno : 0;
}

}  // namespace skerry::os
