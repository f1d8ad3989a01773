#include "workspace/tar_unpack.hpp"

#include <fcntl.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include <gtest/gtest.h>

#include "archive/archive_builder.hpp"
#include "archive/byte_source.hpp"
#include "base/unique_fd.hpp"
#include "support/temporary_directory.hpp"

namespace skerry::workspace {
namespace {

namespace fs = std::filesystem;
using archive::ArchiveBuilder;

class TarUnpackTest : public testing::Test {
 protected:
  base::Status Unpack(const std::string& tar, const UnpackLimits& limits = {}) {
    archive::MemorySource source(tar);
    const base::UniqueFd root(::open(root_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    return UnpackTar(root.get(), source, limits);
  }
  [[nodiscard]] std::string Text(const std::string& name) const {
    std::ostringstream text;
    text << std::ifstream(root_ / name).rdbuf();
    return text.str();
  }

  support::TemporaryDirectory directory_;
  fs::path root_ = [this] {
    fs::create_directory(directory_.path() / "root");
    return directory_.path() / "root";
  }();
};

TEST_F(TarUnpackTest, FilesLinksAndDirectoriesAppearWithTheirModes) {
  const auto done = Unpack(ArchiveBuilder().Directory("d", 0700).File("d/f", "text", 0640).Link("l", "d/f").Build());
  ASSERT_TRUE(done.has_value()) << done.error().message;
  EXPECT_EQ(Text("d/f"), "text");
  EXPECT_EQ(fs::status(root_ / "d/f").permissions(), fs::perms(0640));
  EXPECT_EQ(fs::read_symlink(root_ / "l"), "d/f");
}

TEST_F(TarUnpackTest, MissingParentsAreMade) {
  ASSERT_TRUE(Unpack(ArchiveBuilder().File("a/b/c", "x").Build()).has_value());
  EXPECT_EQ(Text("a/b/c"), "x");
}

TEST_F(TarUnpackTest, ALinkOnTheWayIsNotFollowed) {
  fs::create_directory(directory_.path() / "outside");
  fs::create_directory_symlink(directory_.path() / "outside", root_ / "way");
  (void)Unpack(ArchiveBuilder().File("way/escaped", "x").Build());
  EXPECT_FALSE(fs::exists(directory_.path() / "outside/escaped"));
  // Nor through a link that the archive itself has made before.
  (void)Unpack(ArchiveBuilder().Link("other", "../outside").File("other/escaped", "x").Build());
  EXPECT_FALSE(fs::exists(directory_.path() / "outside/escaped"));
}

TEST_F(TarUnpackTest, ALinkInThePlaceOfAFileIsReplacedAndNotWrittenThrough) {
  std::ofstream(directory_.path() / "victim") << "whole";
  fs::create_symlink(directory_.path() / "victim", root_ / "f");
  ASSERT_TRUE(Unpack(ArchiveBuilder().File("f", "new").Build()).has_value());
  EXPECT_EQ(Text("f"), "new");
  EXPECT_EQ(Text("../victim"), "whole");
}

TEST_F(TarUnpackTest, PathsThatLeadOutAreRefused) {
  EXPECT_EQ(Unpack(ArchiveBuilder().File("../x", "x").Build()).error().code, base::Code::kPathTraversal);
  EXPECT_FALSE(fs::exists(directory_.path() / "x"));
}

TEST_F(TarUnpackTest, HardLinksAreRefusedAndDevicesPassedOver) {
  EXPECT_FALSE(Unpack(ArchiveBuilder().File("f", "x").HardLink("h", "f").Build()).has_value());
  ASSERT_TRUE(Unpack(ArchiveBuilder().Entry({.name = "device", .type = '3'}).File("g", "y").Build()).has_value());
  EXPECT_FALSE(fs::exists(root_ / "device"));
  EXPECT_EQ(Text("g"), "y");
}

TEST_F(TarUnpackTest, SetIdBitsAreDropped) {
  ASSERT_TRUE(Unpack(ArchiveBuilder().File("f", "x", 06755).Build()).has_value());
  EXPECT_EQ(fs::status(root_ / "f").permissions(), fs::perms(0755));
}

TEST_F(TarUnpackTest, LimitsHold) {
  const std::string tar = ArchiveBuilder().File("a", "12345").File("b", "12345").Build();
  EXPECT_EQ(Unpack(tar, {.max_bytes = 9}).error().code, base::Code::kTooLarge);
  EXPECT_EQ(Unpack(tar, {.max_entries = 1}).error().code, base::Code::kTooLarge);
  EXPECT_EQ(Unpack(tar, {.deadline = base::Deadline::After(std::chrono::seconds(-1))}).error().code,
            base::Code::kTimeout);
}

TEST_F(TarUnpackTest, WhatIsNoArchiveIsAnError) {
  EXPECT_FALSE(Unpack(std::string(2000, 'x')).has_value());
  EXPECT_FALSE(Unpack(ArchiveBuilder().File("f", "text").WithoutEnd()).has_value());
}

}  // namespace
}  // namespace skerry::workspace
