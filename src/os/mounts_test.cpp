#include "os/mounts.hpp"

#include <fcntl.h>
#include <sched.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <functional>
#include <string>

#include <gtest/gtest.h>

#include "os/files.hpp"
#include "os/namespace.hpp"

namespace skerry::os {
namespace {

// The exit code of `body` in a child with a mount namespace of its own and a fresh tmpfs on /tmp.
int InMountNamespace(const std::function<int()>& body) {
  const uid_t user = ::getuid();
  const gid_t group = ::getgid();
  const auto cloned = CloneInto(CLONE_NEWUSER | CLONE_NEWNS, -1);
  if (!cloned) return 77;
  if (cloned->child) {
    (void)WriteControlFile("/proc/self/setgroups", "deny");
    if (!WriteControlFile("/proc/self/uid_map", "0 " + std::to_string(user) + " 1")) ::_exit(98);
    if (!WriteControlFile("/proc/self/gid_map", "0 " + std::to_string(group) + " 1")) ::_exit(98);
    if (MakeMountsPrivate() != 0 || MountTmpfs("/tmp", "mode=755,size=1m", Execute::kForbidden) != 0) ::_exit(97);
    if (::mkdir("/tmp/target", 0755) < 0) ::_exit(96);
    ::_exit(body());
  }
  return WEXITSTATUS(cloned->process.Reap().value());
}

// NOLINTBEGIN(bugprone-macro-parentheses): the first argument is a name
#define RUN_IN_NAMESPACE(result, body)       \
  const int result = InMountNamespace(body); \
  if (result == 77) GTEST_SKIP() << "this user may not make user namespaces here"
// NOLINTEND(bugprone-macro-parentheses)

TEST(MountsTest, AReadOnlyBindCannotBeWritten) {
  RUN_IN_NAMESPACE(code, [] {
    if (::mkdir("/tmp/source", 0755) < 0) return 1;
    if (BindMount(AT_FDCWD, "/tmp/source", "/tmp/target", {.access = Access::kReadOnly}) != 0) return 2;
    return ::mkdir("/tmp/target/new", 0755) < 0 && errno == EROFS ? 0 : 3;
  });
  EXPECT_EQ(code, 0);
}

TEST(MountsTest, ATmpfsEndsAtItsSize) {
  RUN_IN_NAMESPACE(code, [] {
    const int fd = ::open("/tmp/big", O_CREAT | O_WRONLY, 0644);
    const std::string block(1 << 20, 'x');
    if (!WriteAll(fd, block.substr(0, 1000))) return 1;
    return WriteAll(fd, block) ? 2 : 0;
  });
  EXPECT_EQ(code, 0);
}

TEST(MountsTest, AMaskedFileIsEmptyAndAMaskedDirectoryToo) {
  RUN_IN_NAMESPACE(code, [] {
    if (::mkdir("/tmp/secret", 0755) < 0 || ::mkdir("/tmp/secret/inner", 0755) < 0) return 1;
    const int fd = ::open("/tmp/file", O_CREAT | O_WRONLY, 0644);
    if (!WriteAll(fd, "token")) return 2;
    if (MaskDirectory("/tmp/secret", nullptr) != 0 || MaskFile("/tmp/file", "/dev/null") != 0 ||
        MaskFile("/tmp/nothing", "/dev/null") != 0)
      return 3;
    if (::access("/tmp/secret/inner", F_OK) == 0) return 4;
    return ReadFile("/tmp/file", 100).value_or("?").empty() ? 0 : 5;
  });
  EXPECT_EQ(code, 0);
}

TEST(MountsTest, AfterThePivotTheOldRootIsGone) {
  RUN_IN_NAMESPACE(code, [] {
    if (::chdir("/tmp") < 0 || PivotToCurrentDirectory() != 0) return 1;
    return ::access("/usr", F_OK) < 0 && ::access("/target", F_OK) == 0 ? 0 : 2;
  });
  EXPECT_EQ(code, 0);
}

}  // namespace
}  // namespace skerry::os
