#include "os/process_tree.hpp"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
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
  asm volatile("" : : "r"(block.data()) : "memory");  // the compiler must not think that nobody looks at it
  EXPECT_GT(ProcessTreeUse(::getpid(), 0).memory_bytes, block.size());
  EXPECT_GT(ProcessTreeUse(::getpid(), 1ULL << 40U).memory_bytes, block.size());
}

// Runs in a child, because it makes its process a subreaper and reaps everything.
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
