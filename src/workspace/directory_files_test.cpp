#include "workspace/directory_files.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "support/temporary_directory.hpp"

namespace skerry::workspace {
namespace {

namespace fs = std::filesystem;

// Import, export and the like are tested with every backend (tests/support/backend_contract.hpp).
class MarkDirectoryTest : public testing::Test {
 protected:
  void Touch(const std::string& name) const {
    fs::create_directories((root_ / name).parent_path());
    std::ofstream(root_ / name) << "x";
  }
  [[nodiscard]] base::Result<core::FileMark> Try() const {
    const base::UniqueFd fd(::open(root_.c_str(), O_PATH | O_CLOEXEC));
    return MarkDirectory(fd.get(), base::Deadline::Never(), {});
  }
  [[nodiscard]] core::FileMark Take() const { return Try().value(); }

  support::TemporaryDirectory directory_;
  fs::path root_ = directory_.path();
};

TEST_F(MarkDirectoryTest, NewFilesAreTheDifference) {
  Touch("old");
  const core::FileMark before = Take();
  Touch("new");
  Touch("deep/er/file");
  EXPECT_EQ(core::Compare(before, Take()).changed,
            (std::vector<std::string>{"deep", "deep/er", "deep/er/file", "new"}));
}

TEST_F(MarkDirectoryTest, WhatWasWrittenToOrRemovedIsToldApart) {
  for (const char* name : {"same", "written", "removed", "replaced"}) Touch(name);
  const core::FileMark before = Take();
  ::usleep(20'000);  // the clock of the file system ticks in steps of some milliseconds
  Touch("written");
  fs::remove(root_ / "removed");
  Touch("other");
  fs::rename(root_ / "other", root_ / "replaced");
  const core::FilesChanged changes = core::Compare(before, Take());
  EXPECT_EQ(changes.changed, (std::vector<std::string>{"replaced", "written"}));
  EXPECT_EQ(changes.removed, std::vector<std::string>{"removed"});
}

TEST_F(MarkDirectoryTest, ATimeThatAProgramSetBackHidesNothing) {
  Touch("file");
  const auto time = fs::last_write_time(root_ / "file");
  const core::FileMark before = Take();
  ::usleep(20'000);
  std::ofstream(root_ / "file") << "y";
  fs::last_write_time(root_ / "file", time);
  EXPECT_EQ(core::Compare(before, Take()).changed, std::vector<std::string>{"file"});
}

TEST_F(MarkDirectoryTest, LinksAreListedAndNotFollowed) {
  fs::create_directory_symlink("/usr", root_ / "link");
  EXPECT_EQ(Take().size(), 1U);
  EXPECT_EQ(Take().at("link").kind, core::FileState::Kind::kLink);
}

TEST_F(MarkDirectoryTest, AnyDepthIsSeen) {
  fs::path deep = root_;
  for (int i = 0; i < 300; ++i) deep /= "d";
  fs::create_directories(deep);
  std::ofstream(deep / "file") << "x";
  EXPECT_EQ(Take().size(), 301U);
}

TEST_F(MarkDirectoryTest, ADirectoryThatCannotBeReadIsAnErrorAndNoShorterList) {
  if (::geteuid() == 0) GTEST_SKIP() << "root reads everything";
  fs::create_directory(root_ / "closed");
  fs::permissions(root_ / "closed", fs::perms::none);
  EXPECT_FALSE(Try().has_value());
  fs::permissions(root_ / "closed", fs::perms::owner_all);
}

TEST_F(MarkDirectoryTest, NoDirectoryIsAnError) {
  EXPECT_FALSE(MarkDirectory(-1, base::Deadline::Never(), {}).has_value());
}

TEST_F(MarkDirectoryTest, ARequestToStopEndsIt) {
  Touch("file");
  std::stop_source stop;
  stop.request_stop();
  const base::UniqueFd fd(::open(root_.c_str(), O_PATH | O_CLOEXEC));
  const auto mark = MarkDirectory(fd.get(), base::Deadline::Never(), stop.get_token());
  ASSERT_FALSE(mark.has_value());
  EXPECT_EQ(mark.error().code, base::Code::kTimeout);
}

}  // namespace
}  // namespace skerry::workspace
