#include "transport/daemon/last_resort.hpp"

#include <unistd.h>

#include <mutex>
#include <thread>

#include <gtest/gtest.h>

namespace skerry::transport::daemon {
namespace {

using std::chrono::milliseconds;

// A destructor that waits for a thread which never ends, as a pool does for a handler that hangs.
TEST(LastResortTest, EndsAProcessThatWaitsForAHandlerForEver) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        EndWithin(milliseconds(50), [] { (void)::write(STDERR_FILENO, "cut off\n", 8); });
        std::mutex held;
        held.lock();
        const std::jthread handler([&] { held.lock(); });
      },
      testing::ExitedWithCode(0), "cut off");
}

TEST(LastResortTest, LeavesAnOrderlyEndAlone) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        EndWithin(std::chrono::hours(1), [] {});
        ::exit(7);
      },
      testing::ExitedWithCode(7), "");
}

}  // namespace
}  // namespace skerry::transport::daemon
