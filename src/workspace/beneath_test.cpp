#include "workspace/beneath.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "support/temporary_directory.hpp"

namespace skerry::workspace {
namespace {

namespace fs = std::filesystem;

class BeneathTest : public testing::Test {
 protected:
  BeneathTest() {
    fs::create_directories(root_ / "real/inner");
    std::ofstream(root_ / "real/file") << "x";
    fs::create_directory_symlink("real", root_ / "link");
    fs::create_directory_symlink("/etc", root_ / "out");
  }
  [[nodiscard]] bool Opens(const std::string& path, int flags = O_RDONLY) const {
    return OpenBeneath(fd_.get(), path, flags).has_value();
  }
  [[nodiscard]] mode_t Mode(const std::string& path) const {
    struct stat facts{};
    EXPECT_EQ(::stat((root_ / path).c_str(), &facts), 0);
    return facts.st_mode & ALLPERMS;
  }

  support::TemporaryDirectory directory_;
  fs::path root_ = directory_.path();
  base::UniqueFd fd_{::open(root_.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC)};
};

TEST_F(BeneathTest, NoLinkIsFollowedNotEvenInside) {
  EXPECT_TRUE(Opens("real/file"));
  EXPECT_TRUE(Opens("", O_RDONLY | O_DIRECTORY));
  EXPECT_FALSE(Opens("link/file"));
  EXPECT_FALSE(Opens("link", O_RDONLY | O_DIRECTORY));
  EXPECT_FALSE(Opens("link", O_PATH | O_DIRECTORY));
  EXPECT_FALSE(Opens("out/passwd"));
}

TEST_F(BeneathTest, NothingOutsideIsOpened) {
  EXPECT_FALSE(Opens("/etc/passwd"));
  EXPECT_FALSE(Opens("..", O_RDONLY | O_DIRECTORY));
  EXPECT_FALSE(Opens("real/../..", O_RDONLY | O_DIRECTORY));
}

TEST_F(BeneathTest, FollowingGoesThroughLinksButNeverOut) {
  EXPECT_TRUE(FollowBeneath(fd_.get(), "link/file").valid());
  EXPECT_FALSE(FollowBeneath(fd_.get(), "out/passwd").valid());
  EXPECT_EQ(errno, EXDEV);
}

TEST_F(BeneathTest, OnlyRegularFilesAreOpenedAsFiles) {
  ASSERT_EQ(::mkfifo((root_ / "fifo").c_str(), 0666), 0);
  EXPECT_TRUE(OpenFileBeneath(fd_.get(), "real/file", Locked::kLeave).has_value());
  EXPECT_FALSE(OpenFileBeneath(fd_.get(), "fifo", Locked::kLeave).has_value());
  EXPECT_FALSE(OpenFileBeneath(fd_.get(), "link", Locked::kLeave).has_value());
  EXPECT_FALSE(OpenFileBeneath(fd_.get(), "real", Locked::kLeave).has_value());
}

TEST_F(BeneathTest, AFileThatIsUnlockedHasItsModeBack) {
  ASSERT_EQ(::chmod((root_ / "real/file").c_str(), 0), 0);
  EXPECT_EQ(OpenFileBeneath(fd_.get(), "real/file", Locked::kLeave).has_value(), ::geteuid() == 0);
  EXPECT_TRUE(OpenFileBeneath(fd_.get(), "real/file", Locked::kUnlock).has_value());
  EXPECT_EQ(Mode("real/file"), 0U);
}

TEST_F(BeneathTest, APlaceKnowsWhatIsThere) {
  EXPECT_TRUE(FindPlace(fd_.get(), "real/file")->HoldsFile());
  EXPECT_TRUE(FindPlace(fd_.get(), "real/inner")->HoldsDirectory());
  EXPECT_TRUE(FindPlace(fd_.get(), "out")->HoldsLink());
  EXPECT_FALSE(FindPlace(fd_.get(), "real/new")->entry.has_value());
  EXPECT_FALSE(FindPlace(fd_.get(), "link/file").has_value());
  EXPECT_FALSE(FindPlace(fd_.get(), "missing/file").has_value());
}

TEST(PathBeforeTest, ADirectoryComesRightBeforeWhatIsBelowIt) {
  std::vector<std::string> paths = {"a.b", "a/b/c", "b", "a", "a/b", "a-", "a/\xff"};
  std::ranges::sort(paths, PathBefore);
  EXPECT_EQ(paths, (std::vector<std::string>{"a", "a/b", "a/b/c", "a/\xff", "a-", "a.b", "b"}));
}

TEST(PathsTest, PartsOfAPath) {
  EXPECT_EQ(ParentOf("a/b/c"), "a/b");
  EXPECT_EQ(ParentOf("a"), "");
  EXPECT_EQ(NameOf("a/b/c"), "c");
  EXPECT_EQ(NameOf("a"), "a");
  EXPECT_EQ(DepthOf(""), 0U);
  EXPECT_EQ(DepthOf("a/b/c"), 3U);
  EXPECT_EQ(JoinPath("", "a"), "a");
  EXPECT_EQ(JoinPath("a/b", "c"), "a/b/c");
  EXPECT_TRUE(IsBelow("a/b/c", "a/b"));
  EXPECT_FALSE(IsBelow("a/b", "a/b"));
  EXPECT_FALSE(IsBelow("a/bc", "a/b"));
}

}  // namespace
}  // namespace skerry::workspace
