#include "image/tree_writer.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "archive/archive_builder.hpp"
#include "archive/error_of.hpp"
#include "support/temporary_directory.hpp"

namespace skerry::image {
namespace {

using archive::ArchiveBuilder;
using archive::CodeOf;
using archive::MemorySource;
using archive::MessageOf;
using archive::PaxRecord;
using archive::TarReader;
using archive::WriteFile;

namespace fs = std::filesystem;
using testing::HasSubstr;

class TreeWriterTest : public testing::Test {
 protected:
  TreeWriterTest() {
    fs::create_directory(tree_);
    fs::create_directory(outside_);
    WriteFile(outside_ / "precious", "precious");
  }

  base::Status Unpack(const ArchiveBuilder& archive, const ImportLimits& limits = {}) {
    const std::string bytes = archive.Build();
    const base::UniqueFd root(::open(tree_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    ImportBudget budget(limits, nullptr);
    MemorySource source(bytes);
    TarReader reader(source);
    TreeWriter writer(root.get(), budget);
    for (;;) {
      SKERRY_ASSIGN_OR_RETURN(const auto entry, reader.Next());
      if (!entry) break;
      SKERRY_RETURN_IF_ERROR(writer.Put(*entry, reader));
    }
    counts_ = writer.counts();
    return {};
  }

  // Unpacks, and checks that nothing outside has changed.
  base::Status UnpackHostile(const ArchiveBuilder& archive) {
    const base::Status status = Unpack(archive);
    EXPECT_EQ(Content(outside_ / "precious"), "precious");
    EXPECT_EQ(fs::hard_link_count(outside_ / "precious"), 1U);
    EXPECT_EQ(std::distance(fs::directory_iterator(outside_), fs::directory_iterator()), 1);
    EXPECT_EQ(std::distance(fs::directory_iterator(base_), fs::directory_iterator()), 2);
    return status;
  }

  static std::string Content(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  static unsigned ModeOf(const fs::path& path) {
    struct stat facts{};
    return ::lstat(path.c_str(), &facts) == 0 ? facts.st_mode & 07777U : ~0U;
  }
  static std::int64_t TimeOf(const fs::path& path) {
    struct stat facts{};
    return ::lstat(path.c_str(), &facts) == 0 ? facts.st_mtim.tv_sec : -1;
  }

  support::TemporaryDirectory directory_;
  fs::path base_ = directory_.path();
  fs::path tree_ = base_ / "tree";
  fs::path outside_ = base_ / "outside";
  TreeCounts counts_;
};

TEST_F(TreeWriterTest, PutsFilesDirectoriesAndLinks) {
  ASSERT_TRUE(Unpack(ArchiveBuilder()
                         .Directory("./")
                         .Directory("./usr/")
                         .File("./usr/f", std::string(300'000, 'x'))
                         .File("/implied/way/g", "g")
                         .Link("lib", "usr/lib")
                         .Link("etc", "/nowhere")
                         .HardLink("usr/h", "usr/f"))
                  .has_value());
  EXPECT_EQ(Content(tree_ / "usr/f"), std::string(300'000, 'x'));
  EXPECT_EQ(Content(tree_ / "implied/way/g"), "g");
  EXPECT_EQ(fs::read_symlink(tree_ / "lib"), "usr/lib");
  EXPECT_EQ(fs::read_symlink(tree_ / "etc"), "/nowhere");
  EXPECT_EQ(fs::hard_link_count(tree_ / "usr/f"), 2U);
  EXPECT_EQ(counts_.entries, 8U);
  EXPECT_EQ(counts_.bytes, 300'001U);
  EXPECT_EQ(counts_.skipped, 0U);
}

TEST_F(TreeWriterTest, KeepsNineBitsOfTheModeWhateverTheUmask) {
  for (const mode_t mask : {0U, 022U, 077U}) {
    const mode_t before = ::umask(mask);
    const auto status = Unpack(ArchiveBuilder()
                                   .Directory("d", 05755)
                                   .Directory("closed", 0)
                                   .Directory("open", 01777)
                                   .File("setuid", "", 06755)
                                   .File("none", "", 0)
                                   .File("all", "", 0666)
                                   .File("way/f"));
    ::umask(before);
    ASSERT_TRUE(status.has_value()) << status.error().message;
    EXPECT_EQ(ModeOf(tree_ / "d"), 0755U);
    EXPECT_EQ(ModeOf(tree_ / "closed"), 0700U);
    EXPECT_EQ(ModeOf(tree_ / "open"), 0777U);
    EXPECT_EQ(ModeOf(tree_ / "setuid"), 0755U);
    EXPECT_EQ(ModeOf(tree_ / "none"), 0400U);
    EXPECT_EQ(ModeOf(tree_ / "all"), 0666U);
    EXPECT_EQ(ModeOf(tree_ / "way"), 0755U);
    EXPECT_EQ(fs::status(tree_ / "all").permissions(), static_cast<fs::perms>(0666));
    for (const auto& entry : fs::directory_iterator(tree_)) fs::remove_all(entry);
  }
}

TEST_F(TreeWriterTest, EverythingBelongsToTheCaller) {
  ASSERT_TRUE(Unpack(ArchiveBuilder().File("f").Directory("d").Link("l", "f")).has_value());
  for (const char* name : {"f", "d", "l"}) {
    struct stat facts{};
    ASSERT_EQ(::lstat((tree_ / name).c_str(), &facts), 0);
    EXPECT_EQ(facts.st_uid, ::geteuid()) << name;
  }
}

TEST_F(TreeWriterTest, TimesSurviveWhatComesLater) {
  ASSERT_TRUE(Unpack(ArchiveBuilder()
                         .Entry({.name = ".", .type = '5', .mode = 0755, .mtime = 100})
                         .Entry({.name = "d", .type = '5', .mode = 0755, .mtime = 200})
                         .Entry({.name = "d/e", .type = '5', .mode = 0755, .mtime = 300})
                         .Entry({.name = "d/f", .mtime = 400})
                         .Entry({.name = "l", .type = '2', .mtime = 500, .link = "d"})
                         .Entry({.name = "d/e/g", .mtime = 600})
                         .Entry({.name = "l/through", .mtime = 700})
                         .Entry({.name = "d/way/down/h", .mtime = 800}))
                  .has_value());
  EXPECT_EQ(TimeOf(tree_), 100);
  EXPECT_EQ(TimeOf(tree_ / "d"), 200);
  EXPECT_EQ(TimeOf(tree_ / "d/e"), 300);
  EXPECT_EQ(TimeOf(tree_ / "d/f"), 400);
  EXPECT_EQ(TimeOf(tree_ / "l"), 500);
  EXPECT_EQ(TimeOf(tree_ / "d/through"), 700);
}

TEST_F(TreeWriterTest, TheLastEntryOfANameWins) {
  ASSERT_TRUE(Unpack(ArchiveBuilder()
                         .File("f", "old")
                         .HardLink("other", "f")
                         .File("f", "new")
                         .Directory("becomes-file")
                         .File("becomes-file/below/x", "x")
                         .File("becomes-file", "file")
                         .File("becomes-directory", "x")
                         .Directory("becomes-directory")
                         .Link("was-link", "f")
                         .File("was-link", "own")
                         .Directory("stays", 0700)
                         .File("stays/x", "x")
                         .Directory("stays", 0755)
                         .File("linked")
                         .Link("linked", "f"))
                  .has_value());
  EXPECT_EQ(Content(tree_ / "f"), "new");
  EXPECT_EQ(Content(tree_ / "other"), "old");
  EXPECT_EQ(Content(tree_ / "becomes-file"), "file");
  EXPECT_TRUE(fs::is_directory(fs::symlink_status(tree_ / "becomes-directory")));
  EXPECT_EQ(Content(tree_ / "was-link"), "own");
  EXPECT_TRUE(fs::is_regular_file(fs::symlink_status(tree_ / "was-link")));
  EXPECT_EQ(Content(tree_ / "stays/x"), "x");
  EXPECT_TRUE(fs::is_symlink(tree_ / "linked"));
}

TEST_F(TreeWriterTest, LinksOnTheWayAreFollowedInsideTheTree) {
  ASSERT_TRUE(UnpackHostile(ArchiveBuilder()
                                .Directory("usr/lib")
                                .Link("lib", "usr/lib")
                                .Link("usr/lib/up", "../../../../../..")
                                .Link("usr/lib/top", "/")
                                .File("lib/a", "a")
                                .File("lib/up/b", "b")
                                .File("lib/top/c", "c"))
                  .has_value());
  EXPECT_EQ(Content(tree_ / "usr/lib/a"), "a");
  EXPECT_EQ(Content(tree_ / "b"), "b");
  EXPECT_EQ(Content(tree_ / "c"), "c");
}

TEST_F(TreeWriterTest, ADirectoryEntryReplacesALink) {
  ASSERT_TRUE(
      UnpackHostile(ArchiveBuilder().Link("d", outside_).Directory("d", 0711).File("d/precious", "other")).has_value());
  EXPECT_TRUE(fs::is_directory(fs::symlink_status(tree_ / "d")));
  EXPECT_EQ(Content(tree_ / "d/precious"), "other");
}

TEST_F(TreeWriterTest, ADirectoryThatBecomesALinkBetweenEntriesLeadsNowhereElse) {
  const auto status =
      UnpackHostile(ArchiveBuilder().Directory("d").File("d/x", "1").Link("d", outside_).File("d/precious", "stolen"));
  EXPECT_FALSE(status.has_value());  // the link leads to a path that the tree does not have
  const auto relative = UnpackHostile(
      ArchiveBuilder().Directory("e").File("e/x", "1").Link("e", "../outside").File("e/precious", "stolen"));
  EXPECT_FALSE(relative.has_value());
}

struct AttackRow {
  ArchiveBuilder archive;
  base::Code code;
  std::string_view says;
};

TEST_F(TreeWriterTest, AttacksAreRefusedAndChangeNothingOutside) {
  const std::string precious = outside_ / "precious";
  const auto with_link = [&] { return ArchiveBuilder().Link("l", precious); };
  const AttackRow rows[] = {
      {ArchiveBuilder().File("../outside/precious", "x"), base::Code::kPathTraversal, "'..'"},
      {ArchiveBuilder().File("a/../../outside/new", "x"), base::Code::kPathTraversal, "'..'"},
      {ArchiveBuilder().Directory("..", 0777), base::Code::kPathTraversal, "'..'"},
      {ArchiveBuilder().Link("../evil", "x"), base::Code::kPathTraversal, "'..'"},
      {ArchiveBuilder().Entry({.name = "../null", .type = '3'}), base::Code::kPathTraversal, "'..'"},
      {ArchiveBuilder().HardLink("h", "../outside/precious"), base::Code::kPathTraversal, "'..'"},
      {ArchiveBuilder().HardLink("h", precious), base::Code::kPathTraversal, "no file of the archive"},
      {ArchiveBuilder().HardLink("h", "later").File("later"), base::Code::kPathTraversal, "no file of the archive"},
      {ArchiveBuilder().HardLink("h", "/"), base::Code::kPathTraversal, "no file of the archive"},
      {ArchiveBuilder().Directory("d").HardLink("h", "d"), base::Code::kPathTraversal, "no file of the archive"},
      {with_link().HardLink("h", "l"), base::Code::kPathTraversal, "no file of the archive"},
      {ArchiveBuilder().Link("o", outside_).HardLink("h", "o/precious"), base::Code::kPathTraversal, "no file"},
      {ArchiveBuilder().Link("o", "../outside").HardLink("h", "o/precious"), base::Code::kPathTraversal, "no file"},
      {ArchiveBuilder().File("x/y").HardLink("x", "x/y"), base::Code::kPathTraversal, "no file"},
      {ArchiveBuilder().Link("o", outside_).File("o/new", "x"), base::Code::kInvalidArgument, "leads nowhere"},
      {ArchiveBuilder().Link("loop", "loop").File("loop/x", "x"), base::Code::kPathTraversal, "leads to itself"},
      {ArchiveBuilder().File("f").File("f/below", "x"), base::Code::kInvalidArgument, "is a file"},
      {ArchiveBuilder().File(".", "x"), base::Code::kInvalidArgument, "top of the tree"},
      {ArchiveBuilder().Link("/", "x"), base::Code::kInvalidArgument, "top of the tree"},
      {ArchiveBuilder().Pax(PaxRecord("linkpath", std::string(4096, 'x'))).Link("l", "x"), base::Code::kTooLarge,
       "too long"},
      {ArchiveBuilder().Pax(PaxRecord("path", std::string(256, 'x'))).File("x"), base::Code::kTooLarge, "255"},
  };
  for (const AttackRow& row : rows) {
    const auto status = UnpackHostile(row.archive);
    ASSERT_FALSE(status.has_value()) << row.says;
    EXPECT_EQ(CodeOf(status), row.code) << status.error().message;
    EXPECT_THAT(MessageOf(status), HasSubstr(row.says));
    for (const auto& entry : fs::directory_iterator(tree_)) fs::remove_all(entry);
  }
}

TEST_F(TreeWriterTest, AFileIsNeverWrittenThroughALinkOfItsName) {
  ASSERT_TRUE(UnpackHostile(ArchiveBuilder()
                                .Link("l", outside_ / "precious")
                                .File("l", "mine")
                                .Link("new", outside_ / "new")
                                .File("new", "mine"))
                  .has_value());
  EXPECT_EQ(Content(tree_ / "l"), "mine");
  EXPECT_EQ(Content(tree_ / "new"), "mine");
}

TEST_F(TreeWriterTest, AHardLinkToItselfChangesNothing) {
  ASSERT_TRUE(
      Unpack(ArchiveBuilder().File("f", "x").HardLink("f", "f").HardLink("g", "f").HardLink("g", "f")).has_value());
  EXPECT_EQ(Content(tree_ / "f"), "x");
  EXPECT_EQ(fs::hard_link_count(tree_ / "f"), 2U);
}

TEST_F(TreeWriterTest, DevicesAndFifosAreLeftOutAndCounted) {
  ASSERT_TRUE(Unpack(ArchiveBuilder()
                         .Entry({.name = "null", .type = '3'})
                         .Entry({.name = "disk", .type = '4'})
                         .Entry({.name = "fifo", .type = '6'}))
                  .has_value());
  EXPECT_TRUE(fs::is_empty(tree_));
  EXPECT_EQ(counts_.skipped, 3U);
  EXPECT_EQ(counts_.entries, 0U);
}

TEST_F(TreeWriterTest, APathOfTenThousandDirectoriesIsRefused) {
  std::string deep;
  for (int i = 0; i < 10'000; ++i) deep += "d/";
  const auto status = UnpackHostile(ArchiveBuilder().Pax(PaxRecord("path", deep + "f")).File("x"));
  ASSERT_FALSE(status.has_value());
  EXPECT_EQ(CodeOf(status), base::Code::kTooLarge);
  EXPECT_TRUE(fs::is_empty(tree_));
}

TEST_F(TreeWriterTest, DirectoriesThatAreMadeByTheWayCountToo) {
  const auto status = Unpack(ArchiveBuilder().File("a/b/c/d/e/f"), {.max_entries = 4});
  ASSERT_FALSE(status.has_value());
  EXPECT_EQ(CodeOf(status), base::Code::kTooLarge);
  EXPECT_TRUE(Unpack(ArchiveBuilder().File("x/b/c/d/e/f"), {.max_entries = 6}).has_value());
}

TEST_F(TreeWriterTest, AnAnonymousTimeOrModeBreaksNothing) {
  ASSERT_TRUE(Unpack(ArchiveBuilder()
                         .Pax(PaxRecord("mtime", "9223372036854775807"))
                         .File("far")
                         .Pax(PaxRecord("mtime", "-9223372036854775808.5"))
                         .File("early")
                         .File("strange", "", 07777))
                  .has_value());
  EXPECT_EQ(ModeOf(tree_ / "strange"), 0777U);
}

}  // namespace
}  // namespace skerry::image
