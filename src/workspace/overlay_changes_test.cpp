#include "workspace/overlay_changes.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <string>

#include <gtest/gtest.h>

#include "workspace/overlay_fixture.hpp"

namespace skerry::workspace {
namespace {

namespace fs = std::filesystem;

class OverlayChangesTest : public OverlayTest {
 protected:
  [[nodiscard]] OverlayChanges Changes(const WalkLimits& limits = {}) const {
    return ReadOverlayChanges(upper_.get(), limits).value();
  }
  // "kind path", one per line.
  [[nodiscard]] std::string Listing(const WalkLimits& limits = {}) const {
    std::string text;
    for (const Change& change : Changes(limits).changes)
      text += std::string(1, "FDLXO"[static_cast<std::size_t>(change.kind)]) + " " + change.path + "\n";
    return text;
  }
  // A layer that was made by hand and not by an overlay.
  void UseHandMadeUpper() { upper_.Reset(::open(stage_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)); }
  void Mark(const std::string& path, const std::string& name, const std::string& value) {
    const std::string full = stage_ / path;
    if (::lsetxattr(full.c_str(), name.c_str(), value.data(), value.size(), 0) < 0)
      GTEST_SKIP() << "no user attributes here";
  }
  void Touch(const std::string& path) {
    fs::create_directories((stage_ / path).parent_path());
    std::ofstream(stage_ / path).flush();
  }
};

TEST_F(OverlayChangesTest, EveryKindIsSeen) {
  Put("gone", "x");
  Put("old/kept", "x");
  Put("old/changed", "x");
  Shell("rm gone; echo y > old/changed; mkdir new; echo z > new/file; ln -s file new/link; mkfifo new/fifo");
  EXPECT_EQ(Listing(), "X gone\nD new\nO new/fifo\nF new/file\nL new/link\nD old\nF old/changed\n");
}

TEST_F(OverlayChangesTest, ADirectoryMadeAnewIsOpaqueAndSoIsAllBelow) {
  Put("d/sub/old", "x");
  Shell("rm -rf d; mkdir -p d/sub; echo y > d/sub/new");
  const OverlayChanges found = Changes();
  ASSERT_EQ(Listing(), "D d\nD d/sub\nF d/sub/new\n");
  EXPECT_TRUE(found.changes[0].opaque);
  EXPECT_TRUE(found.changes[1].opaque);
}

TEST_F(OverlayChangesTest, ADirectoryInWhichSomethingChangedIsNotOpaque) {
  Put("d/old", "x");
  Shell("echo y > d/new");
  EXPECT_FALSE(Changes().changes[0].opaque);
}

TEST_F(OverlayChangesTest, FilesThatAreMarkedAsWhiteoutsAreDeletionsInMarkedDirectoriesOnly) {
  Touch("d/gone");
  Touch("plain/file");
  Mark("d", "user.overlay.opaque", "x");
  Mark("d/gone", "user.overlay.whiteout", "y");
  Mark("plain/file", "user.overlay.whiteout", "y");
  UseHandMadeUpper();
  EXPECT_EQ(Listing(), "D d\nX d/gone\nD plain\nO plain/file\n");
}

TEST_F(OverlayChangesTest, RedirectsAndMetacopiesAreNeverWritten) {
  Touch("moved/file");
  Touch("hollow");
  Mark("moved", "user.overlay.redirect", "/elsewhere");
  Mark("hollow", "user.overlay.metacopy", "");
  UseHandMadeUpper();
  EXPECT_EQ(Listing(), "O hollow\nO moved\n");
}

TEST_F(OverlayChangesTest, AProgramCannotForgeMarksThroughTheOverlay) {
  Put("d/precious", "x");
  ASSERT_EQ(Work([] {
              (void)::setxattr("d", "user.overlay.opaque", "y", 1, 0);
              (void)::setxattr("d", "user.overlay.redirect", "/", 1, 0);
              (void)::mknod("forged", S_IFCHR, makedev(0, 0));
              return std::system("touch d/new");
            }),
            "");
  EXPECT_EQ(Listing(), "D d\nF d/new\n");
}

TEST_F(OverlayChangesTest, TheLimitsCutTheListAndItSaysSo) {
  Shell("for i in 1 2 3 4 5 6 7 8; do echo > f$i; done");
  EXPECT_FALSE(Changes({.max_entries = 5}).complete);
  EXPECT_LE(Changes({.max_entries = 5}).changes.size(), 5U);
  EXPECT_FALSE(Changes({.max_path_bytes = 8}).complete);
  EXPECT_TRUE(Changes({.max_entries = 8}).complete);
}

TEST_F(OverlayChangesTest, WhatIsTooDeepIsNamedOnceAndNotEntered) {
  Shell("mkdir -p a/b/c/d; echo > a/b/c/d/file; echo > a/b/file");
  const OverlayChanges found = Changes({.max_depth = 3});
  ASSERT_EQ(Listing({.max_depth = 3}), "D a\nD a/b\nO a/b/c\nF a/b/file\n");
  EXPECT_EQ(found.changes[2].obstacle, "too deep");
  EXPECT_TRUE(found.complete);
}

TEST_F(OverlayChangesTest, DirectoriesThatAreLockedAreEntered) {
  Shell("mkdir -p locked/inner; echo > locked/inner/file; chmod 0 locked/inner locked");
  EXPECT_EQ(Listing(), "D locked\nD locked/inner\nF locked/inner/file\n");
}

TEST_F(OverlayChangesTest, ABurnedDirectoryIsListedWithoutItsDirectories) {
  Touch("b/file");
  Touch("a");
  fs::create_symlink("/etc", stage_ / "link");
  fs::create_directory(stage_ / "empty");
  Mark("b", "user.overlay.redirect", "/forged");  // a program can set this on a plain directory
  UseHandMadeUpper();
  const FileList list = ListFiles(upper_.get(), {}).value();
  EXPECT_TRUE(list.complete);
  EXPECT_EQ(list.files, (Paths{"a", "b/file", "link"}));
  EXPECT_FALSE(ListFiles(upper_.get(), {.max_entries = 2}).value().complete);
  EXPECT_FALSE(ListFiles(upper_.get(), {.max_depth = 1}).value().complete);
}

TEST_F(OverlayChangesTest, NoDirectoryIsAnError) {
  EXPECT_FALSE(ReadOverlayChanges(-1, {}).has_value());
}

}  // namespace
}  // namespace skerry::workspace
