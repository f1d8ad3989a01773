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
  EXPECT_EQ(before.Until(Take()).created, (std::vector<std::string>{"deep/er/file", "new"}));
  EXPECT_EQ(before.Until(Take()).changed, std::vector<std::string>{});
}

TEST_F(FileSnapshotTest, WhatWasWrittenToOrRemovedIsToldApart) {
  for (const char* name : {"same", "written", "removed", "replaced"}) Touch(name);
  const FileSnapshot before = Take();
  ::usleep(20'000);  // the clock of the file system ticks by some milliseconds
  Touch("written");
  fs::remove(root_ / "removed");
  Touch("other");
  fs::rename(root_ / "other", root_ / "replaced");
  const FileSnapshot::Differences differences = before.Until(Take());
  EXPECT_EQ(differences.created, std::vector<std::string>{});
  EXPECT_EQ(differences.changed, (std::vector<std::string>{"replaced", "written"}));
  EXPECT_EQ(differences.deleted, std::vector<std::string>{"removed"});
}

TEST_F(FileSnapshotTest, LinksAreListedAndNotFollowed) {
  fs::create_directory_symlink("/usr", root_ / "link");
  EXPECT_EQ(Take().files.size(), 1U);
  EXPECT_TRUE(Take().files.contains("link"));
}

TEST_F(FileSnapshotTest, ATreeBeyondTheBoundsIsNotCompleteAndGivesNoList) {
  fs::path deep = root_;
  const FileSnapshot before = Take();
  for (std::size_t i = 0; i < FileSnapshot::kMaxDepth + 2; ++i) deep /= "d";
  fs::create_directories(deep);
  std::ofstream(deep / "file") << "x";
  const FileSnapshot after = Take();
  EXPECT_FALSE(after.complete);
  EXPECT_TRUE(before.Until(after).created.empty());
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
