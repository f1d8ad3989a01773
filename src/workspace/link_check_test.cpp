#include "workspace/link_check.hpp"

#include <fcntl.h>

#include <filesystem>
#include <string>

#include <gtest/gtest.h>

#include "base/unique_fd.hpp"
#include "support/temporary_directory.hpp"

namespace skerry::workspace {
namespace {

namespace fs = std::filesystem;

struct Row {
  const char* path;
  const char* target;
  bool refused;
};

TEST(LinkCheckTest, TheWordsOfATargetDecide) {
  constexpr Row kRows[] = {
      {"l", "file", false},
      {"l", "./a//b/", false},
      {"l", ".", false},
      {"l", "..", true},
      {"l", "../x", true},
      {"a/l", "..", false},
      {"a/l", "../b/c", false},
      {"a/l", "./../b", false},
      {"a/l", "../../x", true},
      {"a/b/l", "../../x", false},
      {"a/b/l", "../../../x", true},
      {"l", "a/../b", true},
      {"l", "a/../../b", true},
      {"a/l", "../b/..", true},
      {"a/l", "b/..", true},
      {"a/b/l", "../c/../d", true},
      {"l", "..a", false},
      {"l", "...", false},
      {"l", "", true},
      {"l", "/", true},
      {"l", "/etc/passwd", true},
      {"l", "/usr/bin/env", false},
      {"l", "//usr/bin/env", true},
      {"l", "/usr/bin", true},
      {"l", "/usr/bin/", true},
      {"l", "/usr/bin/no-such-program", true},
      {"l", "/usr/bin/../../etc/passwd", true},
      {"l", "/usr/binary", true},
      {"l", "/proc/self/root", true},
  };
  for (const Row& row : kRows)
    EXPECT_EQ(!LinkObstacle(row.path, row.target, LinkRule::kPersons).empty(), row.refused)
        << row.path << " -> " << row.target;
}

TEST(LinkCheckTest, ATargetLongerThanAnyPathIsRefused) {
  EXPECT_EQ(LinkObstacle("l", std::string(4095, 'x'), LinkRule::kPersons), "");
  EXPECT_NE(LinkObstacle("l", std::string(4096, 'x'), LinkRule::kPersons), "");
}

class FollowedLinkTest : public testing::Test {
 protected:
  void Link(const std::string& path, const std::string& target) const { fs::create_symlink(target, root_ / path); }
  [[nodiscard]] std::string Obstacle(const std::string& path) const {
    return FollowedLinkObstacle(fd_.get(), path, LinkRule::kPersons);
  }

  support::TemporaryDirectory directory_;
  fs::path root_ = directory_.path();
  base::UniqueFd fd_{::open(root_.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC)};
};

TEST_F(FollowedLinkTest, ALinkThroughAPersonsLinkThatLeadsOutLeadsOut) {
  Link("persons", "/etc");
  Link("l", "persons/passwd");
  EXPECT_EQ(Obstacle("l"), "leads out of the workspace");
}

TEST_F(FollowedLinkTest, InsideOrDanglingIsFine) {
  fs::create_directory(root_ / "d");
  Link("in", "d");
  Link("through", "in/missing");
  EXPECT_EQ(Obstacle("in"), "");
  EXPECT_EQ(Obstacle("through"), "");
}

TEST_F(FollowedLinkTest, CirclesAreFound) {
  Link("a", "b");
  Link("b", "a");
  EXPECT_EQ(Obstacle("a"), "is a link that leads to itself");
}

TEST_F(FollowedLinkTest, AChainMayEndAtAProgramOfTheSystemAndNowhereElse) {
  Link("python", "/usr/bin/env");
  Link("python3", "python");
  Link("python3.11", "./python3");
  EXPECT_EQ(Obstacle("python3.11"), "");
  Link("secrets", "/etc/passwd");
  Link("more", "secrets");
  EXPECT_EQ(Obstacle("more"), "leads out of the workspace");
}

}  // namespace
}  // namespace skerry::workspace
