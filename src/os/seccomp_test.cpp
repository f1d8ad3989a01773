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
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <functional>
#include <vector>

#include <gtest/gtest.h>

#include "os/privileges.hpp"

namespace skerry::os {
namespace {

#if defined(__x86_64__)
constexpr std::uint32_t kHere = AUDIT_ARCH_X86_64;
constexpr std::uint32_t kForeign = AUDIT_ARCH_I386;
#else
constexpr std::uint32_t kHere = AUDIT_ARCH_AARCH64;
constexpr std::uint32_t kForeign = AUDIT_ARCH_ARM;
#endif

std::uint32_t LoadWord(const seccomp_data& data, std::uint32_t offset) {
  std::uint32_t word = 0;
  std::memcpy(&word, reinterpret_cast<const char*>(&data) + offset, sizeof word);
  return word;
}

// Runs the program as the kernel would: the part of classic BPF that the compiler in seccomp.cpp emits.
std::uint32_t Evaluate(const std::vector<sock_filter>& program, const seccomp_data& data) {
  std::uint32_t accumulator = 0;
  for (std::size_t at = 0; at < program.size(); ++at) {
    const sock_filter& step = program[at];
    switch (step.code) {
      case BPF_LD | BPF_W | BPF_ABS:
        accumulator = LoadWord(data, step.k);
        break;
      case BPF_ALU | BPF_AND | BPF_K:
        accumulator &= step.k;
        break;
      case BPF_JMP | BPF_JA:
        at += step.k;
        break;
      case BPF_JMP | BPF_JEQ | BPF_K:
        at += accumulator == step.k ? step.jt : step.jf;
        break;
      case BPF_JMP | BPF_JGE | BPF_K:
        at += accumulator >= step.k ? step.jt : step.jf;
        break;
      case BPF_JMP | BPF_JSET | BPF_K:
        at += (accumulator & step.k) != 0 ? step.jt : step.jf;
        break;
      case BPF_RET | BPF_K:
        return step.k;
      default:
        ADD_FAILURE() << "unknown instruction " << step.code;
        return 0;
    }
  }
  ADD_FAILURE() << "the program has no end";
  return 0;
}

std::uint32_t Decide(long number, std::vector<std::uint64_t> arguments = {}, std::uint32_t architecture = kHere) {
  static const std::vector<sock_filter> program = CompileFilter(SandboxSyscalls());
  seccomp_data data{};
  data.nr = static_cast<int>(number);
  data.arch = architecture;
  for (std::size_t i = 0; i < arguments.size(); ++i) data.args[i] = arguments[i];
  return Evaluate(program, data);
}

constexpr std::uint32_t kAllowed = SECCOMP_RET_ALLOW;
constexpr std::uint32_t kKilled = SECCOMP_RET_KILL_PROCESS;
std::uint32_t Refused(int error) {
  return SECCOMP_RET_ERRNO | static_cast<std::uint32_t>(error);
}

TEST(SeccompTest, EveryRuleOfTheTableIsWhatTheProgramDecides) {
  for (const SyscallRule& rule : SandboxSyscalls()) {
    if (rule.action == SyscallAction::kAllow) {
      EXPECT_EQ(Decide(rule.number), kAllowed) << rule.number;
    }
    if (rule.action == SyscallAction::kRefuse) {
      EXPECT_EQ(Decide(rule.number), Refused(EPERM)) << rule.number;
    }
    if (rule.action == SyscallAction::kNotThere) {
      EXPECT_EQ(Decide(rule.number), Refused(ENOSYS)) << rule.number;
    }
  }
}

TEST(SeccompTest, WhatTheTableDoesNotNameIsNotThere) {
  std::vector<bool> named(1024, false);
  for (const SyscallRule& rule : SandboxSyscalls()) named[static_cast<std::size_t>(rule.number)] = true;
  for (std::size_t number = 0; number < named.size(); ++number)
    if (!named[number]) {
      EXPECT_EQ(Decide(static_cast<long>(number)), Refused(ENOSYS)) << number;
    }
}

TEST(SeccompTest, AForeignArchitectureOrX32Kills) {
  EXPECT_EQ(Decide(SYS_getpid, {}, kForeign), kKilled);
  EXPECT_EQ(Decide(0x40000000 | SYS_getpid), kKilled);
}

TEST(SeccompTest, CloneMayMakeThreadsAndChildrenButNoNamespaces) {
  EXPECT_EQ(Decide(SYS_clone, {CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD}), kAllowed);
  for (const auto flag :
       {CLONE_NEWNS, CLONE_NEWCGROUP, CLONE_NEWUTS, CLONE_NEWIPC, CLONE_NEWUSER, CLONE_NEWPID, CLONE_NEWNET})
    EXPECT_EQ(Decide(SYS_clone, {static_cast<std::uint64_t>(flag) | 17U}), Refused(EPERM)) << flag;
}

TEST(SeccompTest, CloneMakesNoChildrenOfItsParent) {
  EXPECT_EQ(Decide(SYS_clone, {17U}), kAllowed);
  EXPECT_EQ(Decide(SYS_clone, {CLONE_PARENT | 17U}), Refused(EPERM));
}

TEST(SeccompTest, SocketsAreOfPlainFamiliesAndTypes) {
  EXPECT_EQ(Decide(SYS_socket, {AF_UNIX, SOCK_STREAM, 0}), kAllowed);
  EXPECT_EQ(Decide(SYS_socket, {AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0}), kAllowed);
  EXPECT_EQ(Decide(SYS_socket, {AF_INET6, SOCK_DGRAM | SOCK_NONBLOCK, 0}), kAllowed);
  EXPECT_EQ(Decide(SYS_socket, {AF_NETLINK, SOCK_RAW, 0}), kAllowed);
  EXPECT_EQ(Decide(SYS_socket, {AF_NETLINK, SOCK_RAW, 12}), Refused(EPERM));
  EXPECT_EQ(Decide(SYS_socket, {AF_INET, SOCK_RAW, 1}), Refused(EPERM));
  EXPECT_EQ(Decide(SYS_socket, {AF_INET, SOCK_SEQPACKET, 0}), Refused(EPERM));
  EXPECT_EQ(Decide(SYS_socket, {AF_INET, SOCK_STREAM, IPPROTO_TCP}), kAllowed);
  EXPECT_EQ(Decide(SYS_socket, {AF_INET6, SOCK_DGRAM, IPPROTO_UDP}), kAllowed);
  EXPECT_EQ(Decide(SYS_socket, {AF_INET, SOCK_STREAM, 262 /* MPTCP */}), Refused(EPERM));
  EXPECT_EQ(Decide(SYS_socket, {AF_INET, SOCK_DGRAM, IPPROTO_UDPLITE}), Refused(EPERM));
  EXPECT_EQ(Decide(SYS_socketpair, {AF_UNIX, SOCK_STREAM, 0}), kAllowed);
  EXPECT_EQ(Decide(SYS_socketpair, {AF_VSOCK, SOCK_STREAM, 0}), Refused(EAFNOSUPPORT));
  for (const auto family : {AF_VSOCK, AF_ALG, AF_PACKET, AF_XDP, AF_BLUETOOTH, AF_TIPC, AF_KEY})
    EXPECT_EQ(Decide(SYS_socket, {static_cast<std::uint64_t>(family), SOCK_STREAM, 0}), Refused(EAFNOSUPPORT))
        << family;
}

TEST(SeccompTest, IoctlCannotTypeIntoTheTerminal) {
  EXPECT_EQ(Decide(SYS_ioctl, {0, TIOCGWINSZ}), kAllowed);
  EXPECT_EQ(Decide(SYS_ioctl, {0, FIONREAD}), kAllowed);
  for (const auto request : {TIOCSTI, TIOCLINUX, TIOCSETD})
    EXPECT_EQ(Decide(SYS_ioctl, {0, static_cast<std::uint64_t>(request)}), Refused(EPERM)) << request;
  EXPECT_EQ(Decide(SYS_ioctl, {0, 0xABCD00000000ULL | TIOCSTI}), Refused(EPERM));
}

TEST(SeccompTest, PersonalityMayOnlyBeAskedOrReset) {
  EXPECT_EQ(Decide(SYS_personality, {0}), kAllowed);
  EXPECT_EQ(Decide(SYS_personality, {0xFFFFFFFF}), kAllowed);
  EXPECT_EQ(Decide(SYS_personality, {0x0040000}), Refused(EPERM));
}

TEST(SeccompTest, FiltersMayBeAddedButNotListenedTo) {
  EXPECT_EQ(Decide(SYS_seccomp, {SECCOMP_SET_MODE_FILTER, 0}), kAllowed);
  EXPECT_EQ(Decide(SYS_seccomp, {SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER}), Refused(EPERM));
}

TEST(SeccompTest, NoFileGetsASetUserIdBit) {
  for (const std::uint64_t bits : {04000U, 02000U, 06755U}) {
    EXPECT_EQ(Decide(SYS_fchmod, {3, bits}), Refused(EPERM)) << bits;
    EXPECT_EQ(Decide(SYS_fchmodat, {3, 0, bits}), Refused(EPERM)) << bits;
    EXPECT_EQ(Decide(452 /* fchmodat2 */, {3, 0, bits, 0}), Refused(EPERM)) << bits;
    EXPECT_EQ(Decide(SYS_mknodat, {3, 0, bits}), Refused(EPERM)) << bits;
    EXPECT_EQ(Decide(SYS_openat, {3, 0, O_CREAT | O_WRONLY, bits}), Refused(EPERM)) << bits;
    EXPECT_EQ(Decide(SYS_openat, {3, 0, O_TMPFILE | O_WRONLY, bits}), Refused(EPERM)) << bits;
  }
  EXPECT_EQ(Decide(SYS_fchmod, {3, 01777}), kAllowed);
  EXPECT_EQ(Decide(SYS_openat, {3, 0, O_CREAT | O_WRONLY, 0755}), kAllowed);
  EXPECT_EQ(Decide(SYS_openat, {3, 0, O_DIRECTORY, 04755}), kAllowed) << "no file is made, so the mode means nothing";
}

TEST(SeccompTest, NothingIsOpenedForWritingWithoutAStampOfTheAccess) {
  EXPECT_EQ(Decide(SYS_openat, {3, 0, O_RDONLY | O_NOATIME}), kAllowed);
  EXPECT_EQ(Decide(SYS_openat, {3, 0, O_RDWR}), kAllowed);
  EXPECT_EQ(Decide(SYS_openat, {3, 0, O_RDWR | O_NOATIME}), Refused(EPERM));
  EXPECT_EQ(Decide(SYS_openat, {3, 0, O_RDWR | O_CREAT | O_NOATIME, 0644}), Refused(EPERM));
  EXPECT_EQ(Decide(SYS_openat, {3, 0, O_RDONLY | O_CREAT | O_NOATIME, 04755}), Refused(EPERM));
#if defined(__x86_64__)
  EXPECT_EQ(Decide(SYS_open, {0, O_RDWR | O_NOATIME}), Refused(EPERM));
#endif
  EXPECT_EQ(Decide(SYS_fcntl, {3, F_SETFL, O_NONBLOCK}), kAllowed);
  EXPECT_EQ(Decide(SYS_fcntl, {3, F_GETFL, O_NOATIME}), kAllowed);
  EXPECT_EQ(Decide(SYS_fcntl, {3, F_SETFL, O_NONBLOCK | O_NOATIME}), Refused(EPERM));
  EXPECT_EQ(Decide(SYS_ioctl, {3, FS_IOC_GETFLAGS}), kAllowed);
  EXPECT_EQ(Decide(SYS_ioctl, {3, FS_IOC_SETFLAGS}), Refused(ENOTTY));
  EXPECT_EQ(Decide(SYS_ioctl, {3, FS_IOC_FSSETXATTR}), Refused(ENOTTY));
}

TEST(SeccompTest, NoHugePages) {
  EXPECT_EQ(Decide(SYS_mmap, {0, 4096, 3, MAP_PRIVATE | MAP_ANONYMOUS}), kAllowed);
  EXPECT_EQ(Decide(SYS_mmap, {0, 4096, 3, MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB}), Refused(EPERM));
  EXPECT_EQ(Decide(SYS_shmget, {0, 4096, IPC_CREAT | 0600}), kAllowed);
  EXPECT_EQ(Decide(SYS_shmget, {0, 4096, IPC_CREAT | SHM_HUGETLB}), Refused(EPERM));
}

TEST(SeccompTest, SocketOptionsBringNoBuffersAndNoPrograms) {
  EXPECT_EQ(Decide(SYS_setsockopt, {3, SOL_SOCKET, SO_REUSEADDR}), kAllowed);
  EXPECT_EQ(Decide(SYS_setsockopt, {3, IPPROTO_TCP, 1 /* TCP_NODELAY */}), kAllowed);
  EXPECT_EQ(Decide(SYS_setsockopt, {3, IPPROTO_IP, SO_SNDBUF}), kAllowed) << "another level, another meaning";
  for (const auto option : {SO_SNDBUF, SO_RCVBUF})
    EXPECT_EQ(Decide(SYS_setsockopt, {3, SOL_SOCKET, static_cast<std::uint64_t>(option)}), Refused(0)) << option;
  for (const auto option : {SO_SNDBUFFORCE, SO_RCVBUFFORCE, SO_ATTACH_FILTER, SO_ATTACH_BPF, SO_ATTACH_REUSEPORT_CBPF,
                            SO_ATTACH_REUSEPORT_EBPF, SO_ZEROCOPY})
    EXPECT_EQ(Decide(SYS_setsockopt, {3, SOL_SOCKET, static_cast<std::uint64_t>(option)}), Refused(EPERM)) << option;
  for (const auto option : {19 /* TCP_REPAIR */, 31 /* TCP_ULP */})
    EXPECT_EQ(Decide(SYS_setsockopt, {3, IPPROTO_TCP, static_cast<std::uint64_t>(option)}), Refused(EPERM)) << option;
}

TEST(SeccompTest, SocketsGiveNoHandleOnTheirOtherEnd) {
  EXPECT_EQ(Decide(SYS_getsockopt, {3, SOL_SOCKET, SO_PEERCRED}), kAllowed);
  EXPECT_EQ(Decide(SYS_getsockopt, {3, SOL_SOCKET, SO_ERROR}), kAllowed);
  EXPECT_EQ(Decide(SYS_getsockopt, {3, SOL_SOCKET, 77 /* SO_PEERPIDFD */}), Refused(ENOPROTOOPT));
  EXPECT_EQ(Decide(SYS_getsockopt, {3, IPPROTO_TCP, 77}), kAllowed) << "another level, another meaning";
  EXPECT_EQ(Decide(SYS_setsockopt, {3, SOL_SOCKET, SO_PASSCRED}), kAllowed);
  EXPECT_EQ(Decide(SYS_setsockopt, {3, SOL_SOCKET, 76 /* SO_PASSPIDFD */}), Refused(EPERM));
}

TEST(SeccompTest, MessagesCarryNoOutOfBandDataAndPinNoPages) {
  for (const long number : {SYS_sendto, SYS_recvfrom, SYS_sendmmsg, SYS_recvmmsg}) {
    EXPECT_EQ(Decide(number, {0, 0, 0, MSG_DONTWAIT | MSG_NOSIGNAL}), kAllowed) << number;
    EXPECT_EQ(Decide(number, {0, 0, 0, MSG_OOB}), Refused(EOPNOTSUPP)) << number;
  }
  for (const long number : {SYS_sendmsg, SYS_recvmsg}) {
    EXPECT_EQ(Decide(number, {0, 0, MSG_DONTWAIT | MSG_NOSIGNAL}), kAllowed) << number;
    EXPECT_EQ(Decide(number, {0, 0, MSG_OOB}), Refused(EOPNOTSUPP)) << number;
  }
  EXPECT_EQ(Decide(SYS_madvise, {0, 4096, MADV_DONTNEED}), kAllowed);
  EXPECT_EQ(Decide(SYS_madvise, {0, 4096, MADV_MERGEABLE}), Refused(EINVAL));
}

TEST(SeccompTest, LimitsAreOnlyTheCallersOwn) {
  EXPECT_EQ(Decide(SYS_prlimit64, {0, 7}), kAllowed);
  EXPECT_EQ(Decide(SYS_prlimit64, {1, 7}), Refused(EPERM));
}

TEST(SeccompTest, TheKernelTakesTheProgramAndObeysIt) {
  const std::vector<sock_filter> program = CompileFilter(SandboxSyscalls());
  const pid_t pid = ::fork();
  if (pid == 0) {
    if (SetNoNewPrivileges() != 0 || InstallFilter(program) != 0) ::_exit(1);
    if (::syscall(SYS_unshare, CLONE_NEWUSER) == 0 || errno != EPERM) ::_exit(2);
    if (::syscall(SYS_clone3, nullptr, 0) == 0 || errno != ENOSYS) ::_exit(3);
    if (::getppid() <= 0) ::_exit(4);
    ::_exit(0);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(pid, &status, 0), pid);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

}  // namespace
}  // namespace skerry::os
