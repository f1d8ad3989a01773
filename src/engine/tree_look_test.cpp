#include "engine/tree_look.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/unique_fd.hpp"
#include "support/temporary_directory.hpp"

namespace skerry::engine {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::IsEmpty;

class TreeLookTest : public testing::Test {
 protected:
  void Put(const std::string& path, const std::string& bytes) const {
    fs::create_directories((directory_.path() / path).parent_path());
    std::ofstream(directory_.path() / path, std::ios::binary) << bytes;
  }
  [[nodiscard]] std::string At(const std::string& path) const { return directory_.path() / path; }
  [[nodiscard]] TreeLook Look(const TreeBounds& bounds = {}, const std::stop_token& stop = {}) const {
    const std::array trees = {Tree{"workspace", root_.get()}};
    return LookAtTrees(trees, bounds, stop);
  }
  // Sets the times of a file back.
  void SetTime(const std::string& path, time_t seconds) const {
    const std::array<timespec, 2> times = {timespec{.tv_sec = seconds, .tv_nsec = 0},
                                           timespec{.tv_sec = seconds, .tv_nsec = 0}};
    ASSERT_EQ(::utimensat(AT_FDCWD, At(path).c_str(), times.data(), 0), 0);
  }

  support::TemporaryDirectory directory_;
  base::UniqueFd root_{::open(directory_.path().c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC)};
};

TEST_F(TreeLookTest, WhatDidNotChangeHasTheSameDigest) {
  Put("a/b", "1");
  const TreeLook before = Look();
  SetTime("a/b", 1);
  EXPECT_EQ(Look().digest, before.digest);
  EXPECT_THAT(before.rest, IsEmpty());
}

TEST_F(TreeLookTest, WhateverItsNameEachFileCounts) {
  for (const char* name : {"a,b", "a=b", "a'b", "a b", "x.", "d/x", "a\nb", ".hidden", "-rf", "~"}) {
    Put(name, "echo GOOD");
    const TreeLook before = Look();
    Put(name, "echo EVIL");
    EXPECT_NE(Look().digest, before.digest) << name;
  }
}

TEST_F(TreeLookTest, NamesModesLinksAndKindsCount) {
  Put("file", "1");
  fs::create_symlink("file", At("link"));
  std::set<std::string> digests = {Look().digest};
  ASSERT_EQ(::chmod(At("file").c_str(), 0700), 0);
  digests.insert(Look().digest);
  fs::rename(At("file"), At("other"));
  digests.insert(Look().digest);
  fs::remove(At("link"));
  fs::create_symlink("elsewhere", At("link"));
  digests.insert(Look().digest);
  fs::create_directory(At("empty"));
  digests.insert(Look().digest);
  fs::remove(At("empty"));
  ASSERT_EQ(::mkfifo(At("empty").c_str(), 0600), 0);
  digests.insert(Look().digest);
  EXPECT_EQ(digests.size(), 6U);
}

TEST_F(TreeLookTest, ALinkIsNotFollowed) {
  const support::TemporaryDirectory elsewhere;
  fs::create_directory_symlink(elsewhere.path(), At("link"));
  const TreeLook before = Look();
  std::ofstream(elsewhere.path() / "file") << "1";
  EXPECT_EQ(Look().digest, before.digest);
}

TEST_F(TreeLookTest, BeyondTheBoundsAnExchangeShows) {
  Put("data", std::string(100, 'x'));
  Put("z", "echo GOOD");
  const TreeBounds few{.read_bytes = 20};
  const TreeLook before = Look(few);
  EXPECT_THAT(before.rest, HasSubstr("more in its files than is read"));
  Put("z", "echo EVIL");
  const TreeLook small = Look(few);
  EXPECT_NE(small.digest, before.digest) << "small files are read first";
  Put("new", std::string(100, 'y'));
  fs::rename(At("new"), At("data"));
  EXPECT_NE(Look(few).digest, small.digest);
  EXPECT_THAT(Look({.entries = 1}).rest, HasSubstr("more files"));
  EXPECT_THAT(Look({.read_files = 1}).rest, HasSubstr("more in its files"));
  EXPECT_THAT(Look({.path_bytes = 3}).rest, HasSubstr("more files"));
}

TEST_F(TreeLookTest, WhatCannotBeReadIsTold) {
  Put("file", "1");
  const base::UniqueFd holder(::open(At("file").c_str(), O_RDWR | O_CLOEXEC));
  ::signal(SIGIO, SIG_IGN);
  if (::fcntl(holder.get(), F_SETLEASE, F_WRLCK) < 0) GTEST_SKIP() << "there are no leases here";
  EXPECT_THAT(Look().rest, HasSubstr("cannot be read"));
}

TEST_F(TreeLookTest, APlaceThatIsNotThereIsTold) {
  const std::array trees = {Tree{"tmp", -1}};
  EXPECT_THAT(LookAtTrees(trees, {}, {}).rest, HasSubstr("cannot be listed"));
}

TEST_F(TreeLookTest, WhereBytecodeLiesTheTimesOfSourcesCount) {
  Put("job.py", "pass");
  Put("__pycache__/job.cpython-311.pyc", "x");
  SetTime("job.py", 1);
  const TreeLook before = Look();
  SetTime("job.py", 2);
  EXPECT_NE(Look().digest, before.digest);
}

TEST_F(TreeLookTest, WhoGoesAwayWaitsForNothing) {
  Put("file", "1");
  std::stop_source stop;
  stop.request_stop();
  EXPECT_THAT(Look({}, stop.get_token()).rest, HasSubstr("gone"));
}

}  // namespace
}  // namespace skerry::engine
