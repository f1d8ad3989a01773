#include "os/pidfd.hpp"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <gtest/gtest.h>

namespace skerry::os {
namespace {

using std::chrono_literals::operator""ms;
using std::chrono_literals::operator""s;

PidFd ForkSleeper() {
  const pid_t pid = ::fork();
  if (pid == 0) {
    ::pause();
    ::_exit(0);
  }
  return std::move(PidFd::Open(pid).value());
}

TEST(PidFdTest, WaitEndsAtTheDeadlineWhileTheProcessLives) {
  const PidFd child = ForkSleeper();
  EXPECT_FALSE(child.WaitForExit(base::Deadline::After(20ms)).value());
  ASSERT_TRUE(child.Signal(SIGKILL).has_value());
  EXPECT_TRUE(child.WaitForExit(base::Deadline::After(10s)).value());
  EXPECT_TRUE(WIFSIGNALED(child.Reap().value()));
}

TEST(PidFdTest, ASignalAfterTheEndReachesNobody) {
  const PidFd child = ForkSleeper();
  ASSERT_TRUE(child.Signal(SIGKILL).has_value());
  ASSERT_TRUE(child.Reap().has_value());
  EXPECT_FALSE(child.Signal(SIGKILL).has_value());
}

}  // namespace
}  // namespace skerry::os
