#include "workspace/archive_import.hpp"

#include <cstdlib>
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "archive/archive_builder.hpp"
#include "archive/zip_builder.hpp"
#include "base/sha256.hpp"
#include "workspace/workspace_fixture.hpp"

namespace skerry::workspace {
namespace {

namespace fs = std::filesystem;
using archive::ArchiveBuilder;
using archive::Gzip;
using archive::InMemory;
using archive::ZipBuilder;
using testing::ElementsAre;
using testing::HasSubstr;

class ArchiveImportTest : public WorkspaceTest {
 protected:
  base::Result<ImportReport> Import(const std::string& bytes, const ImportOptions& options = {}) {
    const base::UniqueFd fd = InMemory(bytes);
    return ImportArchive(Files(), fd.get(), options);
  }

  // Every path of the workspace, with its content.
  [[nodiscard]] std::string Tree() const {
    std::vector<std::string> lines;
    for (const auto& entry : fs::recursive_directory_iterator(root_)) {
      const std::string path = entry.path().lexically_relative(root_);
      if (entry.is_symlink())
        lines.push_back(path + " -> " + fs::read_symlink(entry.path()).string());
      else if (entry.is_directory())
        lines.push_back(path + "/");
      else
        lines.push_back(path + "=" + Get(entry.path()));
    }
    std::ranges::sort(lines);
    std::string text;
    for (const std::string& line : lines) text += line + "\n";
    return text;
  }
};
SKERRY_BOTH_WAYS(ArchiveImportTest);

TEST_P(ArchiveImportTest, UnpacksEveryFormat) {
  const std::string tar = ArchiveBuilder()
                              .Directory("d/")
                              .File("d/f", "file", 0755)
                              .File("new/deep/f", "deep")
                              .Link("d/l", "f")
                              .HardLink("h", "d/f")
                              .Build();
  const std::string zip =
      ZipBuilder().Directory("d/").File("d/f", "file", 0100755).File("new/deep/f", "deep").Link("d/l", "f").Build();
  for (const std::string& bytes : {tar, Gzip(tar), zip}) {
    fs::remove_all(root_ / "in");
    const auto report = Import(bytes, {.directory = "/workspace/in"});
    ASSERT_TRUE(report) << MessageOf(report);
    EXPECT_EQ(GetFile("in/d/f"), "file");
    EXPECT_EQ(GetFile("in/new/deep/f"), "deep");
    EXPECT_EQ(Mode(root_ / "in/d/f"), 0755U);
    EXPECT_EQ(fs::read_symlink(root_ / "in/d/l"), "f");
    EXPECT_EQ(report->changes[0], (core::FileChange{.path = "in/d/f",
                                                    .action = core::FileAction::kCreated,
                                                    .kind = core::FileKind::kFile,
                                                    .size = 4,
                                                    .mode = 0755,
                                                    .sha256 = base::Sha256Hex("file")}));
    EXPECT_TRUE(StageIsEmpty());
  }
}

TEST_P(ArchiveImportTest, AHardLinkIsACopy) {
  ASSERT_TRUE(Import(ArchiveBuilder().File("a", "text").HardLink("b", "a").HardLink("c", "./b").Build()));
  EXPECT_EQ(GetFile("c"), "text");
  EXPECT_EQ(fs::hard_link_count(root_ / "a"), 1U);
}

TEST_P(ArchiveImportTest, SetIdBitsAreDropped) {
  ASSERT_TRUE(Import(ZipBuilder().File("tool", "x", 0106755).Build()));
  ASSERT_TRUE(Import(ArchiveBuilder().File("tool2", "x", 07755).Build()));
  EXPECT_EQ(Mode(root_ / "tool"), 0755U);
  EXPECT_EQ(Mode(root_ / "tool2"), 0755U);
}

TEST_P(ArchiveImportTest, WhatLeadsOutIsRefusedAndNothingIsLeft) {
  PutOutside("target", "untouched");
  const std::string out = outside_;
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"path_escapes_workspace", ZipBuilder().File("ok", "x").File("../x", "x").Build()},
      {"path_escapes_workspace", ZipBuilder().File("ok", "x").File("..\\..\\x", "x").Build()},
      {"path_escapes_workspace", ZipBuilder().File("ok", "x").File(out + "/x", "x").Build()},
      {"path_escapes_workspace", ZipBuilder().File("ok", "x").Link("l", out).Build()},
      {"path_escapes_workspace", ZipBuilder().File("ok", "x").Link("l", "../outside").File("l/x", "x").Build()},
      {"path_escapes_workspace", ArchiveBuilder().File("ok", "x").File("../outside/x", "x").Build()},
      {"path_escapes_workspace", ArchiveBuilder().File("ok", "x").File(out + "/x", "x").Build()},
      {"path_escapes_workspace", ArchiveBuilder().File("ok", "x").Link("l", out).Build()},
      {"path_escapes_workspace", ArchiveBuilder().File("ok", "x").Link("d/l", "../../outside").Build()},
      {"path_escapes_workspace", ArchiveBuilder().File("ok", "x").HardLink("h", out + "/target").Build()},
      {"path_escapes_workspace", ArchiveBuilder().File("ok", "x").HardLink("h", "../outside/target").Build()},
      // A link that stays inside, and a file written through it.
      {"path_escapes_workspace", ArchiveBuilder().Directory("d").Link("l", "d").File("l/x", "x").Build()},
      {"invalid_argument", ArchiveBuilder().Link("l", "ok").HardLink("h", "l").Build()},
      {"invalid_argument", ArchiveBuilder().HardLink("h", "ok").File("ok", "x").Build()},
      {"invalid_argument", ArchiveBuilder().File("ok", "x").Entry({.name = "n", .type = '3'}).Build()},
      {"invalid_argument", ArchiveBuilder().File("ok", "x").Entry({.name = "n", .type = '6'}).Build()},
      {"invalid_argument", ZipBuilder().File("ok", "x").Entry({.name = "n", .mode = 010644}).Build()},
      {"invalid_argument", ArchiveBuilder().File("ok", "x").File("ok/below", "x").Build()},
      {"invalid_argument", ArchiveBuilder().File("ok", "x").File("./ok", "y").Build()},
      {"invalid_argument", ArchiveBuilder().File("ok", "x").File("d/.skerry-stage-x", "y").Build()},
      {"invalid_argument", ArchiveBuilder().File("ok", "x").WithoutEnd()},
  };
  for (const auto& [code, bytes] : cases) {
    const auto report = Import(bytes);
    EXPECT_EQ(CodeOf(report), code) << MessageOf(report);
    EXPECT_EQ(Tree(), "");
  }
  EXPECT_EQ(Get(outside_ / "target"), "untouched");
  EXPECT_EQ(std::distance(fs::directory_iterator(outside_), {}), 2);
}

TEST_P(ArchiveImportTest, NothingIsWrittenThroughLinksThatAreThere) {
  fs::create_directory(root_ / "real");
  Link(outside_, "out");
  Link("real", "inside");
  Link(outside_ / "secret", "file");
  EXPECT_EQ(CodeOf(Import(ArchiveBuilder().File("new/f", "x").File("out/x", "x").Build())), "conflict");
  EXPECT_EQ(CodeOf(Import(ArchiveBuilder().File("new/f", "x").File("inside/x", "x").Build())), "conflict");
  EXPECT_FALSE(Exists("new"));
  EXPECT_FALSE(Exists("real/x"));
  // The archive's file takes the place of a link; the caller may name a directory by a link.
  ASSERT_TRUE(Import(ArchiveBuilder().File("file", "mine").Build()));
  EXPECT_EQ(GetFile("file"), "mine");
  EXPECT_FALSE(fs::is_symlink(root_ / "file"));
  EXPECT_EQ(Get(outside_ / "secret"), kSecret);
  EXPECT_TRUE(Import(ArchiveBuilder().File("x", "x").Build(), {.directory = "inside"}));
  EXPECT_EQ(GetFile("real/x"), "x");
  EXPECT_EQ(CodeOf(Import(ArchiveBuilder().File("x", "x").Build(), {.directory = "out"})), "path_escapes_workspace");
}

TEST_P(ArchiveImportTest, WhatIsThereIsReplacedOrKept) {
  Put("f", "old");
  Link("f", "l");
  const std::string tar =
      ArchiveBuilder().File("f", "new").File("l", "was a link").File("g", "g").HardLink("h", "f").Build();
  const auto kept = Import(tar, {.existing = Existing::kKeep});
  ASSERT_TRUE(kept) << MessageOf(kept);
  EXPECT_THAT(kept->skipped, ElementsAre("f", "l", "h"));
  EXPECT_EQ(Tree(), "f=old\ng=g\nl -> f\n");
  const auto replaced = Import(tar);
  ASSERT_TRUE(replaced) << MessageOf(replaced);
  EXPECT_EQ(Tree(), "f=new\ng=g\nh=new\nl=was a link\n");
  EXPECT_EQ(replaced->changes[0].action, core::FileAction::kChanged);
  EXPECT_EQ(replaced->changes[1].action, core::FileAction::kChanged);
  EXPECT_EQ(replaced->changes[3].action, core::FileAction::kCreated);
}

TEST_P(ArchiveImportTest, WhatFailsOnTheWayIsTakenBack) {
  Put("f", "old");
  Put("dir/x", "a directory");
  Link("f", "l");
  fs::last_write_time(root_ / "f", fs::file_time_type::clock::now() - std::chrono::hours(1));
  const auto time = fs::last_write_time(root_ / "f");
  const std::string before = Tree();
  const std::string tar = ArchiveBuilder()
                              .File("f", "new")
                              .File("l", "was a link")
                              .File("a/b/c", "made")
                              .Link("a/l", "b")
                              .File("dir", "in the way")
                              .Build();
  EXPECT_EQ(CodeOf(Import(tar)), "conflict");
  EXPECT_EQ(Tree(), before);
  EXPECT_EQ(fs::last_write_time(root_ / "f"), time);
  EXPECT_EQ(CodeOf(Import(tar, {.directory = "made/for/it"})), "ok");
  EXPECT_EQ(GetFile("made/for/it/dir"), "in the way");
}

TEST_P(ArchiveImportTest, TheQuotaHoldsAndNothingIsLeft) {
  Open({.max_bytes = 1U << 20U});
  const std::string content(600'000, 'x');
  const std::string tar = ArchiveBuilder().File("a", content).File("b", content).Build();
  EXPECT_EQ(CodeOf(Import(tar)), "too_large");
  EXPECT_EQ(Tree(), "");
  Open({.max_entries = 3});
  EXPECT_EQ(CodeOf(Import(ArchiveBuilder().File("a/b", "").File("a/c", "").File("a/d", "").Build())), "too_large");
  EXPECT_EQ(Tree(), "");
  EXPECT_EQ(CodeOf(Import(ArchiveBuilder().File("a/b", "").File("a/c", "").Build())), "ok");
}

TEST_P(ArchiveImportTest, BombsAreRefused) {
  const std::string zeros(20U << 20U, '\0');
  const std::string many_bytes = ArchiveBuilder().File("z", zeros).Build();
  EXPECT_EQ(CodeOf(Import(Gzip(many_bytes))), "too_large");
  EXPECT_EQ(CodeOf(Import(ZipBuilder().File("z", zeros).Build())), "too_large");
  EXPECT_EQ(CodeOf(Import(many_bytes, {.limits = {.max_file_bytes = 1U << 20U}})), "too_large");
  EXPECT_EQ(CodeOf(Import(many_bytes, {.limits = {.max_total_bytes = 1U << 20U}})), "too_large");
  // An entry that claims to be small, and is not.
  EXPECT_EQ(CodeOf(Import(ZipBuilder().Entry({.name = "z", .content = zeros, .method = 8, .size = 9}).Build())),
            "invalid_argument");
  // Copies of one file count as well.
  ArchiveBuilder copies;
  copies.File("a", std::string(1U << 20U, 'x'));
  for (int i = 0; i < 100; ++i) copies.HardLink("h" + std::to_string(i), "a");
  EXPECT_EQ(CodeOf(Import(copies.Build(), {.limits = {.max_total_bytes = 50U << 20U}})), "too_large");
  EXPECT_EQ(Tree(), "");
}

TEST_P(ArchiveImportTest, TooManyEntriesAreRefused) {
  ZipBuilder zip;
  ArchiveBuilder tar;
  for (int i = 0; i < 70'000; ++i) {
    zip.Entry({.name = std::to_string(i)});
    tar.File(std::to_string(i));
  }
  EXPECT_EQ(CodeOf(Import(zip.Build64())), "too_large");
  EXPECT_EQ(CodeOf(Import(tar.Build())), "too_large");
  // Directories that are made along with a file count.
  ArchiveBuilder deep;
  for (int i = 0; i < 30; ++i) deep.File(std::to_string(i) + "/a/b/c/d/f");
  EXPECT_EQ(CodeOf(Import(deep.Build(), {.limits = {.max_entries = 100}})), "too_large");
  EXPECT_EQ(Tree(), "");
}

TEST_P(ArchiveImportTest, EntriesThatShareBytesAreRefused) {
  ZipBuilder zip;
  const std::string content(1000, 'x');
  const std::string inner = ZipBuilder().Entry({.name = "b", .content = content}).Build().substr(0, 31 + 1000);
  zip.Entry({.name = "a", .content = inner}).Entry({.name = "b", .content = content, .offset = 31});
  const auto report = Import(zip.Build());
  EXPECT_EQ(CodeOf(report), "invalid_argument");
  EXPECT_THAT(MessageOf(report), HasSubstr("overlap"));
  EXPECT_EQ(Tree(), "");
}

TEST_P(ArchiveImportTest, TimeIsBounded) {
  const auto past = base::Deadline::After(std::chrono::seconds(0));
  EXPECT_EQ(CodeOf(Import(ArchiveBuilder().File("a", "x").Build(), {.deadline = past})), "timeout");
  EXPECT_EQ(Tree(), "");
}

// Whatever the bytes are: no crash, nothing outside the workspace changes, and all or nothing is unpacked.
TEST_P(ArchiveImportTest, SurvivesAnyDamage) {
  const std::string tar =
      ArchiveBuilder().Directory("d").File("d/f", "file").Link("d/l", "f").HardLink("h", "d/f").Build();
  const std::string zip = ZipBuilder().Directory("d/").File("d/f", "file").Link("d/l", "f").Build();
  std::mt19937 random(1);                                                     // NOLINT: the same each time
  const int rounds = std::getenv("SKERRY_SOAK") != nullptr ? 20'000 : 1'000;  // each file is written to the disk
  int unpacked = 0;
  for (int round = 0; round < rounds; ++round) {
    std::string bytes = round % 2 == 0 ? tar : zip;
    const std::string words[] = {"../", "/", "..", "d/l", "\\", "2", "1"};
    for (unsigned i = random() % 3 + 1; i > 0; --i) {
      const std::string& word = words[random() % std::size(words)];
      const std::size_t at = random() % bytes.size();
      if (random() % 2 == 0)
        bytes[at] = static_cast<char>(random());
      else
        bytes.replace(at, std::min(word.size(), bytes.size() - at), word.substr(0, bytes.size() - at));
    }
    // New checksums, so that the damage gets past the check of the headers.
    for (std::size_t at = 0; round % 2 == 0 && at + 512 <= tar.size(); at += 512) {
      if (bytes.substr(at, 512) == tar.substr(at, 512)) continue;
      std::uint64_t sum = 0;
      bytes.replace(at + 148, 8, "        ");
      for (const char byte : bytes.substr(at, 512)) sum += static_cast<unsigned char>(byte);
      bytes.replace(at + 148, 8, archive::Octal(sum, 7) + " ");
    }
    if (Import(bytes))
      ++unpacked;
    else
      ASSERT_EQ(Tree(), "") << round;
    ASSERT_EQ(std::distance(fs::directory_iterator(outside_), {}), 1) << round;
    ASSERT_EQ(std::distance(fs::directory_iterator(top_), {}), 3) << round;
    for (const auto& entry : fs::directory_iterator(root_)) fs::remove_all(entry.path());
    Files().Recount();
  }
  EXPECT_GT(unpacked, rounds / 50);
  EXPECT_LT(unpacked, rounds);
  EXPECT_EQ(Get(outside_ / "secret"), kSecret);
}

}  // namespace
}  // namespace skerry::workspace
