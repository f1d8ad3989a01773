#include "os/process_tree.hpp"

#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <string>

#include <gtest/gtest.h>

namespace skerry::os {
namespace {

using std::chrono_literals::operator""s;

TEST(ProcessTreeTest, ListsTheRootFirstAndItsChildren) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::pause();
    ::_exit(0);
  }
  const auto tree = ProcessTree(::getpid());
  EXPECT_EQ(tree.front(), ::getpid());
  EXPECT_NE(std::ranges::find(tree, child), tree.end());
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
}

TEST(ProcessTreeTest, MemoryInUseIsCountedExactlyAndCheaply) {
  const std::string block(32U << 20U, 'x');
  asm volatile("" : : "r"(block.data()) : "memory");  // the compiler must not drop the block as unused
  EXPECT_GT(ProcessTreeUse(::getpid(), 0).memory_bytes, block.size());
  EXPECT_GT(ProcessTreeUse(::getpid(), 1ULL << 40U).memory_bytes, block.size());
}

// A tree of processes that write their pids to a pipe: the leader of a session, its child in a session of its own, and
// that one's child.
TEST(ProcessTreeTest, ASessionTreeIsKilledAndNobodyElse) {
  const pid_t stranger = ::fork();
  if (stranger == 0) {
    for (;;) ::pause();
  }
  std::array<int, 2> pids{};
  ASSERT_EQ(::pipe(pids.data()), 0);
  const pid_t leader = ::fork();
  if (leader == 0) {
    ::setsid();
    for (int depth = 0; depth < 2; ++depth) {
      if (::fork() != 0) break;
      if (depth == 0) ::setsid();
    }
    const pid_t self = ::getpid();
    (void)!::write(pids[1], &self, sizeof self);
    for (;;) ::pause();
  }
  ::close(pids[1]);
  for (int i = 0; i < 3; ++i) {
    pid_t pid = 0;
    ASSERT_EQ(::read(pids[0], &pid, sizeof pid), static_cast<ssize_t>(sizeof pid));
  }
  KillSessionTree(leader, base::Deadline::After(5s));
  // Every process of the tree held the pipe open.
  pollfd end{pids[0], POLLIN, 0};
  EXPECT_EQ(::poll(&end, 1, 5000), 1) << "something of the tree lives";
  char nothing = 0;
  EXPECT_EQ(::read(pids[0], &nothing, 1), 0);
  ::close(pids[0]);
  int status = 0;
  EXPECT_EQ(::waitpid(leader, &status, 0), leader);
  EXPECT_EQ(status, SIGKILL);
  EXPECT_EQ(::waitpid(stranger, nullptr, WNOHANG), 0) << "a stranger was killed too";
  ::kill(stranger, SIGKILL);
  ::waitpid(stranger, nullptr, 0);
}

// Runs in a child, because the test makes its process a subreaper and reaps all children.
TEST(ProcessTreeTest, KillsDescendantsThatDetachedThemselves) {
  const pid_t reaper = ::fork();
  if (reaper == 0) {
    ::prctl(PR_SET_CHILD_SUBREAPER, 1);
    if (::fork() == 0) {
      if (::fork() == 0) {
        ::setsid();
        ::signal(SIGTERM, SIG_IGN);
        for (;;) ::pause();
      }
      ::_exit(0);
    }
    ::usleep(20'000);
    ::_exit(KillAllDescendants(base::Deadline::After(5s)) && ProcessTree(::getpid()).size() == 1 ? 0 : 1);
  }
  int status = 0;
  ::waitpid(reaper, &status, 0);
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace skerry::os
