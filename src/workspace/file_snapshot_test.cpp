#include "workspace/file_snapshot.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "base/unique_fd.hpp"
#include "support/temporary_directory.hpp"

namespace skerry::workspace {
namespace {

namespace fs = std::filesystem;

class FileSnapshotTest : public testing::Test {
 protected:
  void Touch(const std::string& name) const {
    fs::create_directories((root_ / name).parent_path());
    std::ofstream(root_ / name) << "x";
  }
  [[nodiscard]] FileSnapshot Take() const {
    const base::UniqueFd fd(::open(root_.c_str(), O_PATH | O_CLOEXEC));
    return FileSnapshot::Take(fd.get()).value();
  }

  support::TemporaryDirectory directory_;
  fs::path root_ = directory_.path();
};

TEST_F(FileSnapshotTest, NewFilesAreTheDifference) {
  Touch("old");
  const FileSnapshot before = Take();
  Touch("new");
  Touch("deep/er/file");
  Touch("old");
  EXPECT_EQ(before.CreatedSince(Take()), (std::vector<std::string>{"deep/er/file", "new"}));
}

TEST_F(FileSnapshotTest, LinksAreListedAndNotFollowed) {
  fs::create_directory_symlink("/usr", root_ / "link");
  EXPECT_EQ(Take().paths, std::set<std::string>{"link"});
}

TEST_F(FileSnapshotTest, ATreeBeyondTheBoundsIsNotCompleteAndGivesNoList) {
  fs::path deep = root_;
  const FileSnapshot before = Take();
  for (std::size_t i = 0; i < FileSnapshot::kMaxDepth + 2; ++i) deep /= "d";
  fs::create_directories(deep);
  std::ofstream(deep / "file") << "x";
  const FileSnapshot after = Take();
  EXPECT_FALSE(after.complete);
  EXPECT_TRUE(before.CreatedSince(after).empty());
}

TEST_F(FileSnapshotTest, ADirectoryThatCannotBeReadMakesItNotComplete) {
  if (::geteuid() == 0) GTEST_SKIP() << "root reads everything";
  fs::create_directory(root_ / "closed");
  fs::permissions(root_ / "closed", fs::perms::none);
  EXPECT_FALSE(Take().complete);
  fs::permissions(root_ / "closed", fs::perms::owner_all);
}

TEST_F(FileSnapshotTest, NoDirectoryIsAnError) {
  EXPECT_FALSE(FileSnapshot::Take(-1).has_value());
}

}  // namespace
}  // namespace skerry::workspace
