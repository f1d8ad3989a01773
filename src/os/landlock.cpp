#include "os/landlock.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>

namespace skerry::os {
namespace {

// Debian's headers stop at an older ABI, so the constants of the kernel's interface are written down here.
constexpr std::uint64_t kExecute = 1ULL << 0U;
constexpr std::uint64_t kWriteFile = 1ULL << 1U;
constexpr std::uint64_t kReadFile = 1ULL << 2U;
constexpr std::uint64_t kReadDirectory = 1ULL << 3U;
constexpr std::uint64_t kMakeCharacterDevice = 1ULL << 6U;
constexpr std::uint64_t kMakeBlockDevice = 1ULL << 11U;
constexpr std::uint64_t kIoctlDevice = 1ULL << 15U;
constexpr std::uint64_t kTruncate = 1ULL << 14U;

constexpr std::uint64_t kNetAll = 0x3;    // bind and connect TCP
constexpr std::uint64_t kScopeAll = 0x3;  // abstract unix sockets and signals

constexpr unsigned kCreateRulesetVersion = 1U;
constexpr int kRulePathBeneath = 1;

struct RulesetAttributes {
  std::uint64_t handled_access_fs = 0;
  std::uint64_t handled_access_net = 0;
  std::uint64_t scoped = 0;
};

struct [[gnu::packed]] PathBeneath {
  std::uint64_t allowed_access = 0;
  std::int32_t parent_fd = -1;
};

std::uint64_t HandledFileAccess(int abi) {
  if (abi >= 5) return (1ULL << 16U) - 1;  // + ioctl on devices
  if (abi >= 3) return (1ULL << 15U) - 1;  // + truncate
  if (abi == 2) return (1ULL << 14U) - 1;  // + refer
  return (1ULL << 13U) - 1;
}

std::uint64_t AccessOf(LandlockGrant grant) {
  switch (grant) {
    case LandlockGrant::kReadAndExecute:
      return kExecute | kReadFile | kReadDirectory;
    case LandlockGrant::kReadWrite:
      return ~(kMakeCharacterDevice | kMakeBlockDevice | kIoctlDevice);
    case LandlockGrant::kDevices:
      return kReadFile | kWriteFile | kReadDirectory | kIoctlDevice | kTruncate;
    case LandlockGrant::kProcess:
      return kReadFile | kWriteFile | kReadDirectory | kTruncate;
  }
  return 0;
}

std::size_t AttributeSize(int abi) {
  if (abi >= 6) return sizeof(RulesetAttributes);
  if (abi >= 4) return offsetof(RulesetAttributes, scoped);
  return offsetof(RulesetAttributes, handled_access_net);
}

// The kernel refuses a rule for a plain file that has rights of directories.
std::uint64_t FitToFileType(mode_t mode, std::uint64_t access) {
  return S_ISDIR(mode) ? access : access & (kExecute | kWriteFile | kReadFile | kTruncate | kIoctlDevice);
}

int AddRuleFor(int fd, int ruleset, std::uint64_t access) {
  struct stat facts{};
  if (::fstat(fd, &facts) < 0) return errno;
  const PathBeneath beneath{FitToFileType(facts.st_mode, access), fd};
  return ::syscall(SYS_landlock_add_rule, ruleset, kRulePathBeneath, &beneath, 0U) < 0 ? errno : 0;
}

int AddRule(int ruleset, const LandlockRule& rule, std::uint64_t handled) {
  const int fd = rule.path == nullptr ? rule.fd : ::open(rule.path, O_PATH | O_CLOEXEC);
  if (fd < 0) return errno == ENOENT ? 0 : errno;
  const int error = AddRuleFor(fd, ruleset, AccessOf(rule.grant) & handled);
  if (rule.path != nullptr) ::close(fd);
  return error;
}

}  // namespace

int LandlockAbi() {
  const long abi = ::syscall(SYS_landlock_create_ruleset, nullptr, 0UL, kCreateRulesetVersion);
  return abi < 0 ? 0 : static_cast<int>(abi);
}

int ApplyLandlock(int abi, std::span<const LandlockRule> rules, LandlockNetwork network) {
  if (abi == 0) return 0;
  RulesetAttributes attributes;
  attributes.handled_access_fs = HandledFileAccess(abi);
  if (network == LandlockNetwork::kNoTcp) attributes.handled_access_net = kNetAll;
  attributes.scoped = kScopeAll;
  const int ruleset = static_cast<int>(::syscall(SYS_landlock_create_ruleset, &attributes, AttributeSize(abi), 0U));
  if (ruleset < 0) return errno;
  int error = 0;
  for (const LandlockRule& rule : rules) {
    error = AddRule(ruleset, rule, attributes.handled_access_fs);
    if (error != 0) break;
  }
  if (error == 0 && ::syscall(SYS_landlock_restrict_self, ruleset, 0U) < 0) error = errno;
  ::close(ruleset);
  return error;
}

}  // namespace skerry::os
