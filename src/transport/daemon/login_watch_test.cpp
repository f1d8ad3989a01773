#include "transport/daemon/login_watch.hpp"

#include <mutex>
#include <vector>

#include <gtest/gtest.h>

namespace skerry::transport::daemon {
namespace {

TEST(LoginWatchTest, TellsAllOfItOnceWhenItEnds) {
  std::vector<watch::LoginReport> told;
  {
    LoginWatch watch([&](const watch::LoginReport& report) { told.push_back(report); });
    for (int at = 0; at < 1000; ++at) watch.Saw({.address = "a", .throttled = at >= 200});
  }
  std::uint64_t times = 0;
  for (const auto& report : told) times += report.times;
  EXPECT_EQ(times, 1000U);
  EXPECT_LE(told.size(), 2U);
}

TEST(LoginWatchTest, EndsWithNothingToTell) {
  const LoginWatch watch([](const watch::LoginReport&) { FAIL(); });
}

}  // namespace
}  // namespace skerry::transport::daemon
