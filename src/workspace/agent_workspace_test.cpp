#include "workspace/agent_workspace.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <barrier>
#include <chrono>
#include <filesystem>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "base/sha256.hpp"
#include "workspace/workspace_fixture.hpp"

namespace skerry::workspace {
namespace {

namespace fs = std::filesystem;
using core::FileAction;
using core::FileKind;

core::FileChange Written(const std::string& path, FileAction action, const std::string& bytes, std::uint32_t mode) {
  return {.path = path,
          .action = action,
          .kind = FileKind::kFile,
          .size = bytes.size(),
          .mode = mode,
          .sha256 = base::Sha256Hex(bytes)};
}

class AgentWorkspaceTest : public WorkspaceTest {};
SKERRY_BOTH_WAYS(AgentWorkspaceTest);

TEST_P(AgentWorkspaceTest, AllSpellingsReadTheSameFile) {
  Put("d/f", "text");
  for (const char* path : {"d/f", "/d/f", "./d//f", "/workspace/d/f", "d/../d/f"})
    EXPECT_EQ(Read(path).value_or("none"), "text") << path;
}

TEST_P(AgentWorkspaceTest, ErrorsNameThePathAsItWasGivenAndNothingOfTheHost) {
  Put("f", "");
  Link(outside_ / "secret", "out");
  EXPECT_EQ(MessageOf(Read("/workspace/none")), "/workspace/none: is not there");
  EXPECT_EQ(MessageOf(Read("a/../../x")), "a/../../x: leads out of the workspace");
  EXPECT_EQ(MessageOf(Read("out")), "out: leads out of the workspace");
  EXPECT_EQ(MessageOf(Read("new\nline\033")), "new\\u000aline\\u001b: is not there");
  EXPECT_EQ(MessageOf(Read("/")), "/: is a directory");
  EXPECT_EQ(MessageOf(Files().List("f", {})), "f: is no directory");
  EXPECT_EQ(MessageOf(Files().Write("out", "x")), "out: leads out of the workspace");
}

TEST_P(AgentWorkspaceTest, ReadTakesARangeAndKeepsItsLimit) {
  Put("f", "0123456789");
  const struct {
    ByteRange range;
    std::size_t limit;
    std::string expected;
  } table[] = {
      {{0, {}}, 10, "0123456789"},
      {{3, 4}, 10, "3456"},
      {{8, 10}, 10, "89"},
      {{10, {}}, 10, ""},
      {{UINT64_MAX, 5}, 10, ""},
      {{0, UINT64_MAX}, 10, "0123456789"},
      {{0, 0}, 0, ""},
      {{0, {}}, 9, "too_large"},
      {{1, {}}, 9, "123456789"},
      {{0, 5}, 4, "too_large"},
  };
  for (const auto& row : table) {
    const auto bytes = Files().Read("f", row.range, row.limit);
    EXPECT_EQ(bytes ? *bytes : CodeOf(bytes), row.expected) << row.range.offset;
  }
  EXPECT_EQ(MessageOf(Files().Read("f", {}, 9)), "f: 10 bytes, and the limit is 9; read a part of it");
}

TEST_P(AgentWorkspaceTest, AnEndlessFileOfHolesIsReadInParts) {
  Put("f", "begin\n");
  if (::truncate((root_ / "f").c_str(), off_t{1} << 43U) < 0) GTEST_SKIP() << "the file system has no such files";
  EXPECT_EQ(CodeOf(Read("f")), "too_large");
  EXPECT_EQ(Files().Read("f", {0, 5}, kLimit).value_or("none"), "begin");
  EXPECT_EQ(Files().Read("f", {std::uint64_t{1} << 42U, 3}, kLimit).value_or("none"), std::string(3, '\0'));
  EXPECT_EQ(Files().ReadLines("f", {1, 1}, kLimit)->text, "begin\n");
  EXPECT_EQ(CodeOf(Files().ReadLines("f", {2, 1}, kLimit)), "too_large");
  EXPECT_EQ(Files().ReadLines("f", {3, 1}, kLimit)->count, 0U);
  EXPECT_EQ(CodeOf(Files().Append("f", "x")), "too_large");
  EXPECT_EQ(CodeOf(Files().Copy("f", "g", Existing::kKeep)), "too_large");
  EXPECT_EQ(CodeOf(Files().AllFiles()), "too_large");
  EXPECT_TRUE(StageIsEmpty());
}

TEST_P(AgentWorkspaceTest, ReadLinesGivesLinesWithTheirEnds) {
  Put("f", "one\ntwo\r\nthree");
  const struct {
    LineRange range;
    std::string text;
    std::uint64_t count;
    bool more;
  } table[] = {
      {{1, {}}, "one\ntwo\r\nthree", 3, false},
      {{2, 1}, "two\r\n", 1, true},
      {{1, 2}, "one\ntwo\r\n", 2, true},
      {{3, 1}, "three", 1, false},
      {{3, 5}, "three", 1, false},
      {{4, 1}, "", 0, false},
      {{1, 0}, "", 0, true},
      {{2, UINT64_MAX}, "two\r\nthree", 2, false},
  };
  for (const auto& row : table) {
    const auto lines = Files().ReadLines("f", row.range, 100);
    ASSERT_TRUE(lines) << lines.error().message;
    EXPECT_EQ(lines->text, row.text);
    EXPECT_EQ(lines->count, row.count) << row.text;
    EXPECT_EQ(lines->more, row.more) << row.text;
    EXPECT_EQ(lines->first, row.range.first);
  }
  EXPECT_EQ(CodeOf(Files().ReadLines("f", {0, 1}, 100)), "invalid_argument");
  EXPECT_EQ(CodeOf(Files().ReadLines("f", {1, 3}, 13)), "too_large");
  EXPECT_EQ(CodeOf(Files().ReadLines("f", {1, 3}, 14)), "ok");
}

TEST_P(AgentWorkspaceTest, ReadLinesGoesThroughManyBlocks) {
  std::string text;
  for (int line = 1; line <= 50'000; ++line) text += "line " + std::to_string(line) + "\n";
  Put("f", text);
  const auto lines = Files().ReadLines("f", {40'000, 2}, 100);
  ASSERT_TRUE(lines);
  EXPECT_EQ(lines->text, "line 40000\nline 40001\n");
  EXPECT_TRUE(lines->more);
  EXPECT_EQ(Files().ReadLines("f", {49'999, {}}, 100)->count, 2U);
  EXPECT_EQ(Files().ReadLines("f", {1, {}}, 1U << 20U)->text, text);
  // A file that is a multiple of the block, with a line end as its last byte.
  Put("g", std::string((64U << 10U) - 1, 'x') + "\n");
  EXPECT_FALSE(Files().ReadLines("g", {1, 1}, 1U << 20U)->more);
}

TEST_P(AgentWorkspaceTest, AnOpenFileStaysTheSameFile) {
  Put("f", "before");
  const auto file = Files().OpenFile("f");
  ASSERT_TRUE(file);
  ASSERT_TRUE(Files().Write("f", "after, and longer"));
  EXPECT_EQ(file->size(), 6U);
  EXPECT_EQ(file->ReadAt(0, 100).value_or("none"), "before");
  EXPECT_EQ(file->ReadAt(2, 2).value_or("none"), "fo");
  EXPECT_EQ(file->ReadAt(7, SIZE_MAX).value_or("none"), "");
}

TEST_P(AgentWorkspaceTest, StatTellsWhatIsThere) {
  Put("d/f", "12345");
  ::chmod((root_ / "d/f").c_str(), 0640);
  Link("d/f", "l");
  ASSERT_EQ(::mkfifo((root_ / "fifo").c_str(), 0600), 0);
  const auto file = Files().Stat("/workspace/d/f");
  ASSERT_TRUE(file);
  EXPECT_EQ(file->path, "d/f");
  EXPECT_EQ(file->kind, EntryKind::kFile);
  EXPECT_EQ(file->size, 5U);
  EXPECT_EQ(file->mode, 0640U);
  EXPECT_LT(std::chrono::abs(file->changed_at - std::chrono::system_clock::now()), std::chrono::minutes(5));
  EXPECT_EQ(Files().Stat("l")->kind, EntryKind::kLink);
  EXPECT_EQ(Files().Stat("l")->target, "d/f");
  EXPECT_EQ(Files().Stat("/")->kind, EntryKind::kDirectory);
  EXPECT_EQ(Files().Stat("fifo")->kind, EntryKind::kOther);
  EXPECT_EQ(CodeOf(Files().Stat("none")), "not_found");
  EXPECT_EQ(NameOf(EntryKind::kLink), "link");
}

TEST_P(AgentWorkspaceTest, ListGoesByTheBytesOfNamesInPages) {
  for (const char* name : {"b", "a", "\xff", "B", "a b", "-x", ".hidden", ".skerry-stage-x"}) Put(name, "");
  EXPECT_EQ(Names(""), (std::vector<std::string>{"-x", ".hidden", "B", "a", "a b", "b", "\xff"}));
  auto page = Files().List("/", {.after = "", .limit = 3});
  ASSERT_TRUE(page);
  EXPECT_EQ(page->entries.size(), 3U);
  EXPECT_EQ(page->next, "B");
  page = Files().List("/", {.after = page->next, .limit = 4});
  EXPECT_EQ(page->entries.front().path, "a");
  EXPECT_EQ(page->entries.size(), 4U);
  EXPECT_EQ(page->next, "");
}

TEST_P(AgentWorkspaceTest, AHundredThousandNamesComePageByPage) {
  UseMemory();
  const base::UniqueFd root = DirectoryFd(root_);
  constexpr int kFiles = 100'000;
  for (int at = 0; at < kFiles; ++at)
    ASSERT_EQ(::mknodat(root.get(), std::to_string(at).c_str(), S_IFREG | 0644, 0), 0);
  int count = 0;
  std::string last;
  for (ListOptions options{.after = "", .limit = 1'000'000};;) {
    const auto page = Files().List("", options);
    ASSERT_TRUE(page);
    ASSERT_LE(page->entries.size(), 10'000U);
    for (const Entry& entry : page->entries) {
      ASSERT_LT(last, entry.path);
      last = entry.path;
      ++count;
    }
    if (page->next.empty()) break;
    options.after = page->next;
  }
  EXPECT_EQ(count, kFiles);
  EXPECT_EQ(Files().CurrentUsage()->entries, static_cast<std::uint64_t>(kFiles));
}

TEST_P(AgentWorkspaceTest, WriteCreatesWithParentsAndSaysSo) {
  const auto change = Files().Write("/workspace/a/b/f", "text");
  ASSERT_TRUE(change) << change.error().message;
  EXPECT_EQ(*change, Written("a/b/f", FileAction::kCreated, "text", 0644));
  EXPECT_EQ(GetFile("a/b/f"), "text");
  EXPECT_EQ(Mode(root_ / "a/b"), 0755U);
  EXPECT_TRUE(StageIsEmpty());
  EXPECT_EQ(CodeOf(Files().Write("c/f", "x", {.parents = Parents::kNeed})), "not_found");
  EXPECT_EQ(CodeOf(Files().Write("c/../f", "x")), "not_found");
  EXPECT_EQ(CodeOf(Files().Write("a/b/f/g", "x")), "conflict");
  EXPECT_FALSE(Exists("c"));
}

TEST_P(AgentWorkspaceTest, WriteReplacesAndKeepsTheMode) {
  Put("f", "old");
  ::chmod((root_ / "f").c_str(), 0750);
  EXPECT_EQ(Files().Write("f", "new").value(), Written("f", FileAction::kChanged, "new", 0750));
  EXPECT_EQ(Mode(root_ / "f"), 0750U);
  EXPECT_EQ(Files().Write("f", "", {.mode = 04711}).value(), Written("f", FileAction::kChanged, "", 0711));
  EXPECT_EQ(Mode(root_ / "f"), 0711U) << "a set-user bit does not come from outside";
  EXPECT_EQ(GetFile("f"), "");
}

TEST_P(AgentWorkspaceTest, WhatRootWritesBelongsToTheOwnerOfTheDirectory) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give files away";
  ASSERT_EQ(::chown(root_.c_str(), 54321, 54322), 0);
  ASSERT_TRUE(Files().Write("d/f", "x"));
  ASSERT_TRUE(Files().MakeLink("l", "d/f", Existing::kKeep));
  ASSERT_TRUE(Files().Copy("d", "e", Existing::kKeep));
  for (const char* path : {"d", "d/f", "l", "e", "e/f"}) {
    struct stat facts{};
    ASSERT_EQ(::lstat((root_ / path).c_str(), &facts), 0) << path;
    EXPECT_EQ(facts.st_uid, 54321U) << path;
    EXPECT_EQ(facts.st_gid, 54322U) << path;
  }
  ASSERT_EQ(::chown((root_ / "d/f").c_str(), 7, 8), 0);
  ASSERT_TRUE(Files().Write("d/f", "y"));
  struct stat facts{};
  ASSERT_EQ(::stat((root_ / "d/f").c_str(), &facts), 0);
  EXPECT_EQ(facts.st_uid, 7U) << "the owner of what it replaces";
}

TEST_P(AgentWorkspaceTest, WriteFollowsALinkThatStaysInside) {
  Put("d/f", "old");
  Link("d/f", "l");
  Link("d", "to_d");
  Link("/workspace/d/new", "dangling");
  EXPECT_EQ(Files().Write("l", "new")->path, "d/f");
  EXPECT_EQ(Files().Write("to_d/g", "g")->path, "d/g");
  EXPECT_EQ(Files().Write("to_d/x/y/z", "z")->path, "d/x/y/z");
  EXPECT_EQ(Files().Write("dangling", "made")->path, "d/new");
  EXPECT_TRUE(fs::is_symlink(root_ / "l"));
  EXPECT_EQ(GetFile("d/f"), "new");
  EXPECT_EQ(GetFile("d/new"), "made");
}

TEST_P(AgentWorkspaceTest, WriteKeepsWhatIsThereWhenAsked) {
  Put("f", "old");
  fs::create_directory(root_ / "d");
  EXPECT_EQ(CodeOf(Files().Write("f", "new", {.existing = Existing::kKeep})), "conflict");
  EXPECT_EQ(CodeOf(Files().Write("d", "new")), "conflict");
  EXPECT_EQ(CodeOf(Files().Write("/", "new")), "conflict");
  EXPECT_EQ(GetFile("f"), "old");
  auto writer = Files().BeginWrite("g", {.existing = Existing::kKeep});
  ASSERT_TRUE(writer);
  Put("g", "faster");
  EXPECT_EQ(CodeOf(writer->Finish()), "conflict") << "it came while the other was written";
  EXPECT_EQ(GetFile("g"), "faster");
  EXPECT_TRUE(StageIsEmpty());
}

TEST_P(AgentWorkspaceTest, WriteHoldsToTheExpectedContent) {
  Put("f", "old");
  const auto write = [&](const std::string& path, const std::string& expected) {
    return CodeOf(Files().Write(path, "new", {.expected_sha256 = base::Sha256Hex(expected)}));
  };
  EXPECT_EQ(write("f", "other"), "conflict");
  EXPECT_EQ(write("none", ""), "conflict");
  EXPECT_EQ(write("made/none", ""), "conflict");
  EXPECT_EQ(GetFile("f"), "old");
  EXPECT_FALSE(Exists("made"));
  EXPECT_EQ(write("f", "old"), "ok");
  EXPECT_EQ(GetFile("f"), "new");
}

TEST_P(AgentWorkspaceTest, OtherNamesOfAReplacedFileKeepTheirContent) {
  Put("f", "old");
  fs::create_hard_link(root_ / "f", root_ / "g");
  fs::create_hard_link(root_ / "f", outside_ / "h");
  ASSERT_TRUE(Files().Write("f", "new"));
  EXPECT_EQ(GetFile("g"), "old");
  ASSERT_TRUE(Files().Append("g", " and more"));
  EXPECT_EQ(GetFile("g"), "old and more");
  EXPECT_EQ(Get(outside_ / "h"), "old");
}

TEST_P(AgentWorkspaceTest, NothingIsSeenOfAFileBeforeItIsFinished) {
  Put("f", "old");
  {
    auto writer = Files().BeginWrite("a/b/f", {});
    auto other = Files().BeginWrite("f", {});
    ASSERT_TRUE(writer && other);
    ASSERT_TRUE(writer->Write("half"));
    ASSERT_TRUE(other->Write("half"));
    EXPECT_FALSE(Exists("a"));
    EXPECT_EQ(GetFile("f"), "old");
  }
  EXPECT_FALSE(Exists("a"));
  EXPECT_TRUE(StageIsEmpty());
  EXPECT_EQ(Files().CurrentUsage()->entries, 1U);
}

TEST_P(AgentWorkspaceTest, AFileMayComeInPieces) {
  auto writer = Files().BeginWrite("f", {});
  ASSERT_TRUE(writer);
  std::string all;
  for (int piece = 0; piece < 300; ++piece) {
    const std::string bytes(10'000, static_cast<char>('a' + piece % 26));
    ASSERT_TRUE(writer->Write(bytes));
    all += bytes;
  }
  EXPECT_EQ(writer->Finish().value(), Written("f", FileAction::kCreated, all, 0644));
  EXPECT_EQ(GetFile("f"), all);
}

TEST_P(AgentWorkspaceTest, WithoutAStageFilesArePreparedBesideTheirPlace) {
  const auto files =
      std::make_unique<AgentWorkspace>(DirectoryFd(root_), base::UniqueFd(), WorkspaceOptions{.way = GetParam()});
  ASSERT_TRUE(files->Write("d/f", "x"));
  ASSERT_TRUE(files->Write("d/f", "y"));
  ASSERT_TRUE(files->MakeLink("d/l", "f", Existing::kReplace));
  ASSERT_TRUE(files->Copy("d", "e/g", Existing::kKeep));
  ASSERT_TRUE(files->Delete("d", Depth::kAll));
  EXPECT_EQ(GetFile("e/g/f"), "y");
  EXPECT_EQ(std::distance(fs::directory_iterator(root_), {}), 1) << "nothing is left over";
}

TEST_P(AgentWorkspaceTest, AppendAddsInPlaceAndCreates) {
  EXPECT_EQ(Files().Append("d/log", "one\n").value(), Written("d/log", FileAction::kCreated, "one\n", 0644));
  struct stat before{};
  ASSERT_EQ(::stat((root_ / "d/log").c_str(), &before), 0);
  Link("d/log", "l");
  EXPECT_EQ(Files().Append("l", "two\n").value(), Written("d/log", FileAction::kChanged, "one\ntwo\n", 0644));
  struct stat after{};
  ASSERT_EQ(::stat((root_ / "d/log").c_str(), &after), 0);
  EXPECT_EQ(before.st_ino, after.st_ino);
  EXPECT_EQ(GetFile("d/log"), "one\ntwo\n");
  EXPECT_EQ(CodeOf(Files().Append("d", "x")), "conflict");
  EXPECT_EQ(CodeOf(Files().Append("/", "x")), "conflict");
  ASSERT_EQ(::mkfifo((root_ / "fifo").c_str(), 0600), 0);
  EXPECT_EQ(CodeOf(Files().Append("fifo", "x")), "conflict");
  EXPECT_EQ(CodeOf(Files().Write("fifo", "x")), "conflict");
}

TEST_P(AgentWorkspaceTest, EditChangesTheTextAndKeepsTheMode) {
  Put("f", "one\ntwo\n");
  ::chmod((root_ / "f").c_str(), 0700);
  const auto edited = Files().Edit("f", {text::ReplaceText{.old_text = "two", .new_text = "three"}});
  ASSERT_TRUE(edited) << edited.error().message;
  EXPECT_EQ(edited->change.value(), Written("f", FileAction::kChanged, "one\nthree\n", 0700));
  EXPECT_EQ(edited->report.replacements, 1U);
  EXPECT_FALSE(Files().Edit("f", {text::ReplaceText{.old_text = "one", .new_text = "one"}})->change);
  EXPECT_EQ(CodeOf(Files().Edit("f", {text::ReplaceText{.old_text = "four", .new_text = ""}})), "not_found");
  EXPECT_EQ(
      CodeOf(Files().Edit("f", {text::ReplaceText{.old_text = "one", .new_text = "1"}}, base::Sha256Hex("other"))),
      "conflict");
  EXPECT_EQ(CodeOf(Files().Edit("none", {})), "not_found");
  EXPECT_EQ(GetFile("f"), "one\nthree\n");
}

TEST_P(AgentWorkspaceTest, EditRefusesWhatIsTooLarge) {
  Put("f", "x");
  ASSERT_EQ(::truncate((root_ / "f").c_str(), (16 << 20) + 1), 0);
  EXPECT_EQ(CodeOf(Files().Edit("f", {text::ReplaceText{.old_text = "x", .new_text = "y"}})), "too_large");
}

TEST_P(AgentWorkspaceTest, TheDiskIsAskedForAllThatIsWritten) {
  Put("old", std::string(40'000, 'o'));
  std::uint64_t left = 30'000;
  Open({.room = [&left](std::uint64_t bytes) {
    return bytes <= left ? base::Status{} : base::Err(base::Code::kUnavailable, "no room");
  }});
  EXPECT_EQ(CodeOf(Files().Write("a", std::string(40'000, 'x'))), "unavailable");
  EXPECT_EQ(CodeOf(Files().Append("old", std::string(40'000, 'x'))), "unavailable");
  EXPECT_EQ(CodeOf(Files().Copy("old", "b", Existing::kKeep)), "unavailable");
  EXPECT_EQ(CodeOf(Files().Write("old", std::string(40'000, 'x'))), "unavailable") << "both are there for a moment";
  EXPECT_EQ(GetFile("old"), std::string(40'000, 'o'));
  EXPECT_FALSE(Exists("a"));
  EXPECT_FALSE(Exists("b"));
  EXPECT_TRUE(Files().Write("a", "little"));
  left = 0;
  EXPECT_EQ(CodeOf(Files().Write("empty", "")), "unavailable") << "its name takes room too";
  EXPECT_TRUE(Files().Move("a", "c", Existing::kKeep));
  EXPECT_TRUE(Files().Delete("old", Depth::kOne));
}

TEST_P(AgentWorkspaceTest, TheWorkspaceMayNotGrowBeyondItsLimit) {
  Put("old", std::string(40'000, 'o'));
  Open({.max_bytes = 100'000, .max_entries = 4});
  ASSERT_TRUE(Files().Write("a", std::string(40'000, 'x')));
  EXPECT_EQ(CodeOf(Files().Write("b", std::string(40'000, 'x'))), "too_large");
  EXPECT_EQ(CodeOf(Files().Append("a", std::string(40'000, 'x'))), "too_large");
  EXPECT_EQ(CodeOf(Files().Copy("a", "b", Existing::kKeep)), "too_large");
  EXPECT_EQ(CodeOf(Files().Write("a", std::string(90'000, 'x'))), "too_large");
  EXPECT_EQ(GetFile("a"), std::string(40'000, 'x'));
  EXPECT_FALSE(Exists("b"));
  EXPECT_TRUE(Files().Write("a", std::string(50'000, 'y'))) << "what it replaces goes";
  EXPECT_TRUE(Files().Write("a", "")) << "becoming smaller is always possible";
  EXPECT_TRUE(Files().Write("b", std::string(40'000, 'x')));
  EXPECT_EQ(CodeOf(Files().Write("c/d", "")), "too_large") << "two entries more, and one is left";
  EXPECT_FALSE(Exists("c"));
  EXPECT_TRUE(Files().Write("c", ""));
  EXPECT_EQ(CodeOf(Files().MakeLink("l", "a", Existing::kKeep)), "too_large");
  EXPECT_EQ(CodeOf(Files().MakeDirectory("d", Parents::kNeed)), "too_large");
  ASSERT_TRUE(Files().Delete("old", Depth::kOne));
  EXPECT_TRUE(Files().MakeDirectory("d", Parents::kNeed));
  const Usage counted = *Files().CurrentUsage();
  Files().Recount();
  EXPECT_EQ(counted.entries, Files().CurrentUsage()->entries);
  EXPECT_EQ(counted.bytes, Files().CurrentUsage()->bytes) << "what is kept up is what is there";
}

TEST_P(AgentWorkspaceTest, ManyWritersOfOneFileLeaveOneOfThemWhole) {
  std::vector<std::thread> writers;
  for (char letter = 'a'; letter < 'e'; ++letter)
    writers.emplace_back([&, letter] {
      for (int round = 0; round < 20; ++round) {
        const auto written = Files().Write("d/e/f", std::string(5000, letter));
        EXPECT_TRUE(written) << MessageOf(written);
      }
    });
  for (std::thread& writer : writers) writer.join();
  const std::string text = GetFile("d/e/f");
  EXPECT_EQ(text.size(), 5000U);
  EXPECT_EQ(text.find_first_not_of(text.front()), std::string::npos);
  const Usage counted = *Files().CurrentUsage();
  Files().Recount();
  EXPECT_EQ(counted.bytes, Files().CurrentUsage()->bytes);
}

// Calls `work` with a number from each of four threads at the same time.
void AtOnce(const std::function<void(int)>& work) {
  constexpr int kThreads = 4;
  std::barrier start(kThreads);
  std::vector<std::thread> threads;
  threads.reserve(kThreads);
  for (int number = 0; number < kThreads; ++number)
    threads.emplace_back([&, number] {
      start.arrive_and_wait();
      work(number);
    });
  for (std::thread& thread : threads) thread.join();
}

TEST_P(AgentWorkspaceTest, WritersMakeOneNewDirectoryTogether) {
  UseMemory();
  for (int round = 0; round < 200; ++round) {
    const std::string directory = std::to_string(round) + "/d/e";
    AtOnce([&](int number) {
      const auto written = Files().Write(directory + "/f" + std::to_string(number), "x");
      EXPECT_TRUE(written) << MessageOf(written);
    });
  }
  const Usage counted = *Files().CurrentUsage();
  Files().Recount();
  EXPECT_EQ(counted.entries, Files().CurrentUsage()->entries);
}

TEST_P(AgentWorkspaceTest, WritersMakeOneFileOfANewDirectoryTogether) {
  UseMemory();
  for (int round = 0; round < 500; ++round) {
    const std::string path = std::to_string(round) + "/d/f";
    AtOnce([&](int) {
      const auto written = Files().Write(path, "x");
      EXPECT_TRUE(written) << MessageOf(written);
    });
  }
}

TEST_P(AgentWorkspaceTest, ADirectoryWithParentsIsMadeByManyAtOnce) {
  UseMemory();
  for (int round = 0; round < 200; ++round) {
    const std::string directory = std::to_string(round) + "/d/e";
    AtOnce([&](int) {
      const auto made = Files().MakeDirectory(directory, Parents::kMake);
      EXPECT_TRUE(made) << MessageOf(made);
    });
  }
  const Usage counted = *Files().CurrentUsage();
  Files().Recount();
  EXPECT_EQ(counted.entries, Files().CurrentUsage()->entries);
}

TEST_P(AgentWorkspaceTest, AWriterThatFailsTakesNoDirectoryFromOthers) {
  UseMemory();
  const WriteOptions never{.expected_sha256 = std::string(64, '0')};
  for (int round = 0; round < 200; ++round) {
    const std::string directory = std::to_string(round) + "/d/e";
    AtOnce([&](int number) {
      const auto written =
          Files().Write(directory + "/f" + std::to_string(number), "x", number % 2 == 0 ? never : WriteOptions());
      EXPECT_EQ(written.has_value(), number % 2 != 0) << MessageOf(written);
    });
  }
}

TEST_P(AgentWorkspaceTest, ADirectoryThatWentMeanwhileIsMadeAgain) {
  Put("d/e/other", "x");
  auto writer = Files().BeginWrite("d/e/f", {});
  ASSERT_TRUE(writer && writer->Write("text"));
  std::filesystem::remove_all(root_ / "d");
  const auto written = writer->Finish();
  EXPECT_TRUE(written) << MessageOf(written);
  EXPECT_EQ(GetFile("d/e/f"), "text");
}

TEST_P(AgentWorkspaceTest, ADirectoryThatWentMeanwhileIsMissedWhereNoneIsMade) {
  Put("d/e/other", "x");
  auto writer = Files().BeginWrite("d/e/f", {.parents = Parents::kNeed});
  ASSERT_TRUE(writer && writer->Write("text"));
  std::filesystem::remove_all(root_ / "d");
  EXPECT_EQ(CodeOf(writer->Finish()), "not_found");
}

TEST_P(AgentWorkspaceTest, OfManyEditsNoneIsLost) {
  Put("f", "");
  constexpr int kEach = 25;
  constexpr int kEditors = 3;
  std::vector<std::thread> editors;
  editors.reserve(kEditors);
  for (int editor = 0; editor < kEditors; ++editor)
    editors.emplace_back([&] {
      for (int done = 0; done < kEach;) {
        const auto edited = Files().Edit("f", {text::InsertLines{.line = 1, .text = "line\n"}});
        if (edited) ++done;
        if (!edited) EXPECT_EQ(CodeOf(edited), "conflict") << MessageOf(edited);
      }
    });
  for (std::thread& editor : editors) editor.join();
  EXPECT_EQ(GetFile("f").size(), 3U * kEach * 5U);
}

}  // namespace
}  // namespace skerry::workspace
