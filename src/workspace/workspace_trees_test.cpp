// Directories, moves, copies, links and deletions.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/sha256.hpp"
#include "workspace/workspace_fixture.hpp"

namespace skerry::workspace {
namespace {

namespace fs = std::filesystem;

// "+ path", "~ path" or "- path" with the kind of each change.
std::vector<std::string> Shown(const base::Result<AgentWorkspace::Changes>& changes) {
  if (!changes) return {CodeOf(changes) + ": " + changes.error().message};
  std::vector<std::string> shown;
  for (const core::FileChange& change : *changes) {
    const char* sign = change.action == core::FileAction::kCreated ? "+ " : "~ ";
    std::string line = (change.action == core::FileAction::kRemoved ? "- " : sign) + change.path;
    if (change.kind == core::FileKind::kLink) line += " @";
    EXPECT_EQ(change.sha256.empty(), change.action == core::FileAction::kRemoved) << line;
    shown.push_back(line);
  }
  return shown;
}
using Lines = std::vector<std::string>;

class WorkspaceTreesTest : public WorkspaceTest {
 protected:
  // The use that was counted along with the changes is the real one.
  void ExpectCountIsRight() {
    const Usage counted = *Files().CurrentUsage();
    Files().Recount();
    EXPECT_EQ(counted.entries, Files().CurrentUsage()->entries);
    EXPECT_EQ(counted.bytes, Files().CurrentUsage()->bytes);
  }
  void MakeTree() {
    Put("t/a", "a");
    Put("t/d/b", "bb");
    Put("t/d/e/c", "ccc");
    fs::create_directory(root_ / "t/empty");
    Link("d/b", "t/l");
    ::chmod((root_ / "t/d/b").c_str(), 0751);
    ::chmod((root_ / "t/d").c_str(), 0700);
    (void)Files().CurrentUsage();
  }
};
SKERRY_BOTH_WAYS(WorkspaceTreesTest);

TEST_P(WorkspaceTreesTest, MakeDirectoryMakesWhatIsMissing) {
  EXPECT_EQ(CodeOf(Files().MakeDirectory("a/b/c", Parents::kNeed)), "not_found");
  EXPECT_FALSE(Exists("a"));
  EXPECT_EQ(CodeOf(Files().MakeDirectory("a/b/c", Parents::kMake)), "ok");
  EXPECT_TRUE(fs::is_directory(root_ / "a/b/c"));
  EXPECT_EQ(CodeOf(Files().MakeDirectory("a/b/c", Parents::kMake)), "ok");
  EXPECT_EQ(CodeOf(Files().MakeDirectory("a/b/c", Parents::kNeed)), "conflict");
  EXPECT_EQ(CodeOf(Files().MakeDirectory("a/d", Parents::kNeed)), "ok");
  EXPECT_EQ(CodeOf(Files().MakeDirectory("/", Parents::kMake)), "ok");
  EXPECT_EQ(CodeOf(Files().MakeDirectory("/", Parents::kNeed)), "conflict");
  Put("f", "");
  EXPECT_EQ(CodeOf(Files().MakeDirectory("f", Parents::kMake)), "conflict");
  EXPECT_EQ(CodeOf(Files().MakeDirectory("f/g", Parents::kMake)), "conflict");
  Files().Recount();
  ExpectCountIsRight();
}

TEST_P(WorkspaceTreesTest, MoveOfAFile) {
  Put("f", "text");
  Put("g", "other");
  (void)Files().CurrentUsage();
  EXPECT_EQ(Shown(Files().Move("f", "d/e/h", Existing::kKeep)), (Lines{"+ d/e/h", "- f"}));
  EXPECT_EQ(GetFile("d/e/h"), "text");
  EXPECT_FALSE(Exists("f"));
  EXPECT_EQ(CodeOf(Files().Move("d/e/h", "g", Existing::kKeep)), "conflict");
  EXPECT_EQ(CodeOf(Files().Move("d/e/h", "d", Existing::kReplace)), "conflict");
  EXPECT_EQ(CodeOf(Files().Move("none", "x", Existing::kReplace)), "not_found");
  EXPECT_EQ(CodeOf(Files().Move("g", "g", Existing::kReplace)), "invalid_argument");
  EXPECT_EQ(CodeOf(Files().Move("/", "x", Existing::kReplace)), "invalid_argument");
  EXPECT_EQ(Shown(Files().Move("d/e/h", "g", Existing::kReplace)), (Lines{"- d/e/h", "~ g"}));
  EXPECT_EQ(GetFile("g"), "text");
  ExpectCountIsRight();
}

TEST_P(WorkspaceTreesTest, MoveOfADirectory) {
  MakeTree();
  EXPECT_EQ(CodeOf(Files().Move("t", "t/d/x", Existing::kKeep)), "invalid_argument");
  EXPECT_EQ(CodeOf(Files().Move("t/d", "t/a", Existing::kReplace)), "conflict");
  Link("t", "to_t");
  EXPECT_EQ(CodeOf(Files().Move("t", "to_t/d/x", Existing::kKeep)), "invalid_argument") << "also through a link";
  EXPECT_EQ(Shown(Files().Move("to_t/d", "u", Existing::kKeep)), (Lines{"- t/d/b", "- t/d/e/c", "+ u/b", "+ u/e/c"}));
  EXPECT_EQ(GetFile("u/e/c"), "ccc");
  EXPECT_EQ(Shown(Files().Move("to_t", "link", Existing::kKeep)), (Lines{"+ link @", "- to_t @"}));
}

TEST_P(WorkspaceTreesTest, MoveOntoAnotherNameOfTheSameFileLeavesOne) {
  Put("f", "x");
  fs::create_hard_link(root_ / "f", root_ / "g");
  EXPECT_EQ(Shown(Files().Move("f", "g", Existing::kReplace)), (Lines{"- f", "~ g"}));
  EXPECT_FALSE(Exists("f"));
  EXPECT_EQ(GetFile("g"), "x");
}

TEST_P(WorkspaceTreesTest, CopyOfAFileKeepsHolesAndMode) {
  Put("f", "x");
  ASSERT_EQ(::truncate((root_ / "f").c_str(), 16 << 20), 0);
  ::chmod((root_ / "f").c_str(), 0711);
  EXPECT_EQ(Shown(Files().Copy("f", "d/g", Existing::kKeep)), (Lines{"+ d/g"}));
  struct stat facts{};
  ASSERT_EQ(::stat((root_ / "d/g").c_str(), &facts), 0);
  EXPECT_EQ(facts.st_size, 16 << 20);
  EXPECT_LT(facts.st_blocks * 512, 1 << 20);
  EXPECT_EQ(facts.st_mode & ALLPERMS, 0711U);
  EXPECT_EQ(Files().Copy("f", "d/g", Existing::kReplace)->front().sha256,
            base::Sha256Hex("x" + std::string((16U << 20U) - 1, '\0')));
  EXPECT_EQ(CodeOf(Files().Copy("f", "d/g", Existing::kKeep)), "conflict");
  EXPECT_EQ(CodeOf(Files().Copy("f", "d", Existing::kReplace)), "conflict");
  EXPECT_EQ(CodeOf(Files().Copy("f", "f", Existing::kReplace)), "invalid_argument");
  EXPECT_EQ(CodeOf(Files().Copy("none", "x", Existing::kReplace)), "not_found");
  EXPECT_TRUE(StageIsEmpty());
  ExpectCountIsRight();
}

TEST_P(WorkspaceTreesTest, CopyOfATree) {
  MakeTree();
  EXPECT_EQ(Shown(Files().Copy("t", "new/u", Existing::kKeep)),
            (Lines{"+ new/u/a", "+ new/u/d/b", "+ new/u/d/e/c", "+ new/u/l @"}));
  EXPECT_EQ(GetFile("new/u/d/e/c"), "ccc");
  EXPECT_EQ(fs::read_symlink(root_ / "new/u/l"), "d/b");
  EXPECT_EQ(Mode(root_ / "new/u/d/b"), 0751U);
  EXPECT_EQ(Mode(root_ / "new/u/d"), 0700U);
  EXPECT_TRUE(fs::is_directory(root_ / "new/u/empty"));
  EXPECT_EQ(CodeOf(Files().Copy("t", "t/d/x", Existing::kKeep)), "invalid_argument");
  EXPECT_EQ(CodeOf(Files().Copy("/", "x", Existing::kKeep)), "invalid_argument");
  EXPECT_EQ(CodeOf(Files().Copy("t", "new/u", Existing::kReplace)), "conflict");
  EXPECT_EQ(CodeOf(Files().Copy("t", "new/u/a", Existing::kReplace)), "conflict");
  EXPECT_TRUE(StageIsEmpty());
  ExpectCountIsRight();
}

TEST_P(WorkspaceTreesTest, ACopyIsWholeOrIsNot) {
  MakeTree();
  ASSERT_EQ(::mkfifo((root_ / "t/d/fifo").c_str(), 0600), 0);
  EXPECT_EQ(Shown(Files().Copy("t", "u", Existing::kKeep)),
            (Lines{"conflict: u: d/fifo: is no regular file, and cannot be copied"}));
  EXPECT_EQ(CodeOf(Files().Copy("t/d/fifo", "u", Existing::kKeep)), "conflict");
  fs::remove(root_ / "t/d/fifo");
  Link(outside_ / "secret", "t/d/out");
  Files().Recount();
  EXPECT_EQ(CodeOf(Files().Copy("t", "u", Existing::kKeep)), "path_escapes_workspace");
  EXPECT_EQ(CodeOf(Files().Copy("t/d/out", "u", Existing::kKeep)), "path_escapes_workspace");
  EXPECT_FALSE(Exists("u"));
  EXPECT_TRUE(StageIsEmpty());
  ExpectCountIsRight();
}

TEST_P(WorkspaceTreesTest, DeleteOfOneThing) {
  MakeTree();
  EXPECT_EQ(Shown(Files().Delete("t/a", Depth::kOne)), (Lines{"- t/a"}));
  EXPECT_EQ(Shown(Files().Delete("t/l", Depth::kOne)), (Lines{"- t/l @"}));
  EXPECT_EQ(Shown(Files().Delete("t/empty", Depth::kOne)), Lines{});
  EXPECT_EQ(CodeOf(Files().Delete("t/d", Depth::kOne)), "conflict");
  EXPECT_EQ(CodeOf(Files().Delete("none", Depth::kAll)), "not_found");
  EXPECT_EQ(CodeOf(Files().Delete("/", Depth::kAll)), "invalid_argument");
  EXPECT_EQ(CodeOf(Files().Delete("/workspace", Depth::kAll)), "invalid_argument");
  EXPECT_EQ(CodeOf(Files().Delete("t/..", Depth::kAll)), "invalid_argument");
  EXPECT_EQ(GetFile("t/d/b"), "bb");
  ASSERT_EQ(::mkfifo((root_ / "fifo").c_str(), 0600), 0);
  Files().Recount();
  (void)Files().CurrentUsage();
  EXPECT_EQ(CodeOf(Files().Delete("fifo", Depth::kOne)), "ok");
  EXPECT_FALSE(Exists("fifo"));
  ExpectCountIsRight();
}

TEST_P(WorkspaceTreesTest, DeleteOfATreeRemovesLinksAndFollowsNone) {
  MakeTree();
  Link(outside_, "t/d/out");
  Link("../../outside", "t/d/out2");
  Files().Recount();
  (void)Files().CurrentUsage();
  EXPECT_EQ(Shown(Files().Delete("t", Depth::kAll)),
            (Lines{"- t/a", "- t/d/b", "- t/d/e/c", "- t/d/out @", "- t/d/out2 @", "- t/l @"}));
  EXPECT_FALSE(Exists("t"));
  EXPECT_EQ(Get(outside_ / "secret"), kSecret);
  EXPECT_TRUE(StageIsEmpty());
  ExpectCountIsRight();
}

TEST_P(WorkspaceTreesTest, ATreeOfTooManyFilesIsNotDeletedAtOnce) {
  for (int at = 0; at < 20; ++at) Put("t/" + std::to_string(at), "");
  Open({.max_entries = 10});
  EXPECT_EQ(CodeOf(Files().Delete("t", Depth::kAll)), "too_large");
  EXPECT_TRUE(Exists("t/19"));
  for (int at = 0; at < 15; ++at) EXPECT_TRUE(Files().Delete("t/" + std::to_string(at), Depth::kOne));
  EXPECT_EQ(CodeOf(Files().Delete("t", Depth::kAll)), "ok");
}

TEST_P(WorkspaceTreesTest, LinksAreMadeWhenTheyStayInside) {
  Put("d/f", "x");
  const auto change = Files().MakeLink("d/e/l", "../f", Existing::kKeep);
  ASSERT_TRUE(change) << change.error().message;
  EXPECT_EQ(*change, (core::FileChange{.path = "d/e/l",
                                       .action = core::FileAction::kCreated,
                                       .kind = core::FileKind::kLink,
                                       .size = 4,
                                       .mode = 0777,
                                       .sha256 = base::Sha256Hex("../f")}));
  EXPECT_EQ(Read("d/e/l").value_or("none"), "x");
  EXPECT_EQ(CodeOf(Files().MakeLink("l", "/workspace/d/f", Existing::kKeep)), "ok");
  EXPECT_EQ(Read("l").value_or("none"), "x");
  EXPECT_EQ(CodeOf(Files().MakeLink("l", "d/f", Existing::kKeep)), "conflict");
  EXPECT_EQ(CodeOf(Files().MakeLink("d", "x", Existing::kReplace)), "conflict");
  EXPECT_EQ(Files().MakeLink("l", "d/f", Existing::kReplace)->action, core::FileAction::kChanged);
  for (const char* target : {"/etc/passwd", "../x", "d/../../x", "/workspace/../x", "/", "", "/workspacex"}) {
    const std::string code = CodeOf(Files().MakeLink("bad", target, Existing::kReplace));
    EXPECT_EQ(code, *target == '\0' ? "invalid_argument" : "path_escapes_workspace") << target;
  }
  EXPECT_FALSE(Exists("bad"));
  ExpectCountIsRight();
}

TEST_P(WorkspaceTreesTest, AllFilesAreTheWholeTreeByPath) {
  MakeTree();
  Put("z", "");
  Put("t-1", "");
  ASSERT_EQ(::mkfifo((root_ / "fifo").c_str(), 0600), 0);
  const auto files = Files().AllFiles();
  EXPECT_EQ(Shown(files), (Lines{"+ t-1", "+ t/a", "+ t/d/b", "+ t/d/e/c", "+ t/l @", "+ z"}));
  EXPECT_EQ(files->at(2).sha256, base::Sha256Hex("bb"));
  EXPECT_EQ(files->at(2).mode, 0751U);
  EXPECT_EQ(files->at(2).size, 2U);
  EXPECT_EQ(files->at(4).sha256, base::Sha256Hex("d/b"));
}

TEST_P(WorkspaceTreesTest, UsageCountsBlocksAndEntriesAtAnyDepth) {
  UseMemory();
  Put("f", std::string(10'000, 'x'));
  Put("holes", "");
  ASSERT_EQ(::truncate((root_ / "holes").c_str(), 16 << 20), 0);
  base::UniqueFd here = DirectoryFd(root_);
  constexpr int kDepth = 3000;  // longer than a path can be
  for (int depth = 0; depth < kDepth; ++depth) {
    ASSERT_EQ(::mkdirat(here.get(), "dd", 0755), 0);
    here.Reset(::openat(here.get(), "dd", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  }
  ASSERT_EQ(::symlinkat("x", here.get(), "l"), 0);
  const auto usage = CountUsage(DirectoryFd(root_).get());
  ASSERT_TRUE(usage) << usage.error().message;
  EXPECT_EQ(usage->entries, kDepth + 3U);
  EXPECT_GE(usage->bytes, 10'000U);
  EXPECT_LT(usage->bytes, 100'000U);
  EXPECT_EQ(Files().AllFiles()->size(), 3U);
  EXPECT_EQ(CodeOf(Files().Delete("dd", Depth::kAll)), "ok");
  EXPECT_EQ(Files().CurrentUsage()->entries, 2U);
}

}  // namespace
}  // namespace skerry::workspace
