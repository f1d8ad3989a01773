#include "os/landlock.hpp"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>

#include <gtest/gtest.h>

#include "os/privileges.hpp"
#include "support/temporary_directory.hpp"

namespace skerry::os {
namespace {

namespace fs = std::filesystem;

class LandlockTest : public testing::Test {
 protected:
  void SetUp() override {
    if (LandlockAbi() == 0) GTEST_SKIP() << "this kernel has no Landlock";
    fs::create_directory(base_ / "open");
    fs::create_directory(base_ / "closed");
    std::ofstream(base_ / "closed/secret") << "x";
  }

  // The exit code of `body` in a child that may use only base_/open.
  int InFence(const std::function<int()>& body) const {
    const pid_t pid = ::fork();
    if (pid == 0) {
      const std::string open = (base_ / "open").string();
      const std::array rules = {LandlockRule{.path = open.c_str(), .grant = LandlockGrant::kReadWrite},
                                LandlockRule{.path = "/nowhere", .grant = LandlockGrant::kReadWrite}};
      if (SetNoNewPrivileges() != 0 || ApplyLandlock(LandlockAbi(), rules, LandlockNetwork::kAnyTcp) != 0) ::_exit(99);
      ::_exit(body());
    }
    int status = 0;
    ::waitpid(pid, &status, 0);
    return WEXITSTATUS(status);
  }

  support::TemporaryDirectory directory_;
  fs::path base_ = directory_.path();
};

TEST_F(LandlockTest, WhatIsNamedCanBeUsed) {
  const std::string file = (base_ / "open/file").string();
  EXPECT_EQ(InFence([&] { return ::open(file.c_str(), O_CREAT | O_WRONLY, 0644) >= 0 ? 0 : errno; }), 0);
}

TEST_F(LandlockTest, WhatIsNotNamedIsRefused) {
  const std::string file = (base_ / "closed/secret").string();
  EXPECT_EQ(InFence([&] { return ::open(file.c_str(), O_RDONLY) >= 0 ? 0 : errno; }), EACCES);
}

TEST_F(LandlockTest, AbiZeroRestrictsNothingAndIsNoError) {
  EXPECT_EQ(ApplyLandlock(0, {}, LandlockNetwork::kNoTcp), 0);
}

}  // namespace
}  // namespace skerry::os
