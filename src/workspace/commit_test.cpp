#include "workspace/commit.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <string>

#include <gtest/gtest.h>

#include "workspace/commit_preview.hpp"
#include "workspace/overlay_fixture.hpp"

namespace skerry::workspace {
namespace {

namespace fs = std::filesystem;

class CommitTest : public OverlayTest {};

TEST_F(CommitTest, FilesAreCreatedChangedAndDeleted) {
  Put("changed", "old");
  Put("deleted", "old");
  Put("same", "old");
  const CommitReport report = CommitOf("echo new > changed; rm deleted; mkdir -p d/e; printf 12345 > d/e/created");
  EXPECT_EQ(report.created, Paths{"d/e/created"});
  EXPECT_EQ(report.changed, Paths{"changed"});
  EXPECT_EQ(report.deleted, Paths{"deleted"});
  EXPECT_EQ(Lines(report.withheld), "");
  EXPECT_EQ(report.bytes, 9U);
  EXPECT_EQ(Get("changed"), "new\n");
  EXPECT_EQ(Get("d/e/created"), "12345");
  EXPECT_EQ(Get("same"), "old");
  EXPECT_FALSE(Exists("deleted"));
}

TEST_F(CommitTest, ModeAndTimeAreTheProgramsButNotTheSetIdBits) {
  Put("script", "x");
  CommitOf("chmod 755 script; echo y > suid; touch -d @1000000000 suid; chmod 6754 suid; mkdir -m 3750 d");
  EXPECT_EQ(Mode("script"), 0755U);
  EXPECT_EQ(Mode("suid"), 0754U);
  EXPECT_EQ(Facts("suid").st_mtim.tv_sec, 1000000000);
  EXPECT_EQ(Mode("d"), 0750U);
}

TEST_F(CommitTest, AProgramGivesNoPermissionsBeyondTheMask) {
  Put("shared", "x");
  ASSERT_EQ(::chmod((lower_ / "shared").c_str(), 0666), 0);
  limits_.mode_mask = 0755;
  CommitOf("echo y > new; chmod 777 new; echo y > shared; mkdir -m 777 d");
  EXPECT_EQ(Mode("new"), 0755U);
  EXPECT_EQ(Mode("shared"), 0666U);
  EXPECT_EQ(Mode("d"), 0755U);
}

TEST_F(CommitTest, WhatWasOpenedAndNotChangedIsNoChange) {
  Put("opened", "content");
  rules_.refused["opened"] = "protected";
  const ino_t before = Facts("opened").st_ino;
  const CommitReport report = CommitOf("exec 3>>opened");
  EXPECT_TRUE(report.changed.empty());
  EXPECT_EQ(Lines(report.withheld), "");
  EXPECT_EQ(Facts("opened").st_ino, before);
}

TEST_F(CommitTest, WhatWasOnlyTouchedGetsItsTimeAndIsNoChange) {
  Put("stamp", "content");
  const ino_t before = Facts("stamp").st_ino;
  const CommitReport report = CommitOf("touch -d '2001-02-03 04:05:06 UTC' stamp");
  EXPECT_TRUE(report.changed.empty());
  EXPECT_EQ(Facts("stamp").st_mtim.tv_sec, 981173106);
  EXPECT_EQ(Facts("stamp").st_ino, before);
}

TEST_F(CommitTest, TheSameSizeWithOtherContentIsAChange) {
  Put("f", std::string(300'000, 'a') + "b");
  EXPECT_EQ(CommitOf("printf c | dd of=f bs=1 seek=300000 conv=notrunc 2>/dev/null").changed, Paths{"f"});
  EXPECT_EQ(Get("f"), std::string(300'000, 'a') + "c");
}

TEST_F(CommitTest, AnotherHardLinkKeepsTheOldContent) {
  Put("f", "old");
  fs::create_hard_link(lower_ / "f", base_ / "other");
  CommitOf("echo new > f; chmod 600 f");
  EXPECT_EQ(Get("f"), "new\n");
  EXPECT_EQ(Get("../other"), "old");
}

TEST_F(CommitTest, HardLinksOfTheProgramBecomeFilesOfTheirOwn) {
  EXPECT_EQ(CommitOf("echo x > a; ln a b").created, (Paths{"a", "b"}));
  EXPECT_EQ(Facts("a").st_nlink, 1U);
}

TEST_F(CommitTest, ATreeIsDeletedWithAllThatIsInIt) {
  Put("tree/a", "x");
  Put("tree/b/c", "x");
  fs::create_directory_symlink("/etc", lower_ / "tree/link");
  EXPECT_EQ(CommitOf("rm -rf tree").deleted, (Paths{"tree/a", "tree/b/c", "tree/link"}));
  EXPECT_FALSE(Exists("tree"));
  EXPECT_TRUE(fs::exists("/etc/passwd"));
}

TEST_F(CommitTest, ALockedTreeIsDeletedToo) {
  Put("tree/a/b", "x");
  ASSERT_EQ(::chmod((lower_ / "tree/a").c_str(), 0555), 0);
  ASSERT_EQ(::chmod((lower_ / "tree").c_str(), 0555), 0);
  EXPECT_EQ(CommitOf("chmod -R u+w tree; rm -rf tree").deleted, Paths{"tree/a/b"});
  EXPECT_FALSE(Exists("tree"));
}

TEST_F(CommitTest, ADirectoryMadeAnewHoldsOnlyWhatIsNew) {
  Put("d/old", "x");
  Put("d/both", "x");
  Put("d/sub/old", "x");
  Put("d/sub/both", "x");
  const CommitReport report = CommitOf("rm -rf d; mkdir -p d/sub; echo y > d/both; echo y > d/sub/both; echo > d/new");
  EXPECT_EQ(report.deleted, (Paths{"d/old", "d/sub/old"}));
  EXPECT_EQ(report.changed, (Paths{"d/both", "d/sub/both"}));
  EXPECT_EQ(report.created, Paths{"d/new"});
  EXPECT_FALSE(Exists("d/sub/old"));
}

TEST_F(CommitTest, AFileBecomesADirectoryAndBack) {
  Put("file", "x");
  Put("directory/a", "x");
  const CommitReport report = CommitOf("rm -rf file directory; mkdir file; echo y > file/inner; echo z > directory");
  EXPECT_EQ(report.created, (Paths{"directory", "file/inner"}));
  EXPECT_EQ(report.deleted, (Paths{"directory/a", "file"}));
  EXPECT_EQ(Lines(report.withheld), "");
  EXPECT_EQ(Get("file/inner"), "y\n");
  EXPECT_EQ(Get("directory"), "z\n");
}

TEST_F(CommitTest, ALinkThatBecomesADirectoryIsReplacedAndNotFollowed) {
  fs::create_directory(base_ / "outside");
  fs::create_directory_symlink(base_ / "outside", lower_ / "link");
  CommitOf("rm link; mkdir link; echo x > link/file");
  EXPECT_EQ(Get("link/file"), "x\n");
  EXPECT_TRUE(fs::is_empty(base_ / "outside"));
}

TEST_F(CommitTest, AFileThatReplacesALinkDoesNotWriteThroughIt) {
  Put("../outside", "precious");
  fs::create_symlink(base_ / "outside", lower_ / "link");
  EXPECT_EQ(CommitOf("rm link; echo x > link").changed, Paths{"link"});
  EXPECT_EQ(Get("../outside"), "precious");
  EXPECT_TRUE(S_ISREG(Facts("link").st_mode));
}

TEST_F(CommitTest, ARenamedDirectoryIsThereUnderItsNewName) {
  Put("before/a/file", "x");
  EXPECT_EQ(CommitOf("mv before after").created, Paths{"after/a/file"});
  EXPECT_FALSE(Exists("before"));
}

TEST_F(CommitTest, ASecondCommitOfTheSameLayerDoesNothing) {
  Put("d/old", "x");
  Put("gone", "x");
  Shell("rm -rf d gone; mkdir d; echo y > d/new; ln -s new d/link; chmod 0 d/new");
  Commit();
  const CommitReport again = Commit();
  EXPECT_TRUE(again.created.empty() && again.deleted.empty() && again.withheld.empty());
  // As a plain user the committed file cannot be compared, so it is written again.
  EXPECT_EQ(again.changed, ::geteuid() == 0 ? Paths{} : Paths{"d/new"});
  EXPECT_EQ(Mode("d/new"), 0U);
}

TEST_F(CommitTest, ARefusedFileIsWithheldWithItsReason) {
  Put(".bashrc", "old");
  rules_.refused[".bashrc"] = "shells read it";
  const CommitReport report = CommitOf("echo evil > .bashrc; echo fine > other");
  EXPECT_EQ(Lines(report.withheld), ".bashrc: shells read it\n");
  EXPECT_EQ(report.created, Paths{"other"});
  EXPECT_EQ(Get(".bashrc"), "old");
}

TEST_F(CommitTest, ARefusedDirectoryCoversAllBelowIt) {
  rules_.refused["repo/.git/hooks"] = "git runs what is in it";
  const CommitReport report =
      CommitOf("mkdir -p repo/.git/hooks/deep; cd repo/.git; echo > hooks/a; echo > hooks/deep/b; echo > ok");
  EXPECT_EQ(Lines(report.withheld), "repo/.git/hooks: git runs what is in it (with 2 files)\n");
  EXPECT_EQ(report.created, Paths{"repo/.git/ok"});
  EXPECT_FALSE(Exists("repo/.git/hooks"));
  EXPECT_EQ(std::ranges::count(rules_.asked, "repo/.git/hooks/a"), 0);
}

TEST_F(CommitTest, AProtectedPathInADeletedTreeStaysWithItsParents) {
  Put("tree/a/keep", "x");
  Put("tree/a/go", "x");
  Put("tree/b/go", "x");
  rules_.refused["tree/a/keep"] = "protected";
  const CommitReport report = CommitOf("rm -rf tree");
  EXPECT_EQ(report.deleted, (Paths{"tree/a/go", "tree/b/go"}));
  EXPECT_EQ(Lines(report.withheld), "tree/a/keep: protected\n");
  EXPECT_TRUE(Exists("tree/a/keep"));
  EXPECT_FALSE(Exists("tree/b"));
}

TEST_F(CommitTest, AProtectedPathInADirectoryMadeAnewStays) {
  Put("d/keep", "x");
  Put("d/go", "x");
  rules_.refused["d/keep"] = "protected";
  EXPECT_EQ(CommitOf("rm -rf d; mkdir d").deleted, Paths{"d/go"});
  EXPECT_TRUE(Exists("d/keep"));
}

TEST_F(CommitTest, ADirectoryWithAProtectedPathIsNotReplacedAtAll) {
  Put("d/keep", "x");
  Put("d/other", "x");
  rules_.refused["d/keep"] = "protected";
  const CommitReport report = CommitOf("rm -rf d; echo file > d");
  EXPECT_EQ(Lines(report.withheld), "d: would replace d/keep, which has to stay: protected\n");
  EXPECT_TRUE(Exists("d/other"));
}

TEST_F(CommitTest, RulesCanReadBothVersionsUpToALimit) {
  Put("f", "before");
  std::string seen;
  rules_.look = [&](const Change& change, const ChangeContents& contents) {
    if (change.path == "f") {
      seen = contents.ReadOld(100).value() + ">" + contents.ReadNew(100).value();
      EXPECT_EQ(contents.ReadNew(2).error().code, base::Code::kTooLarge);
    } else {
      EXPECT_EQ(contents.ReadOld(100).error().code, base::Code::kNotFound);
    }
  };
  CommitOf("printf after > f; chmod 0 f; echo > new");
  EXPECT_EQ(seen, "before>after");
}

TEST_F(CommitTest, WhatRootWritesBelongsToTheOwnerOfTheDirectory) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give files away";
  Put("d/theirs", "x");
  ASSERT_EQ(::chown((lower_ / "d").c_str(), 54321, 54322), 0);
  ASSERT_EQ(::chown((lower_ / "d/theirs").c_str(), 54323, 54324), 0);
  CommitOf("echo y > d/theirs; echo y > d/new; mkdir d/sub; ln -s new d/link");
  EXPECT_EQ(Facts("d/theirs").st_uid, 54323U);
  EXPECT_EQ(Facts("d/theirs").st_gid, 54324U);
  for (const char* path : {"d/new", "d/sub", "d/link"}) {
    EXPECT_EQ(Facts(path).st_uid, 54321U) << path;
    EXPECT_EQ(Facts(path).st_gid, 54322U) << path;
  }
}

TEST_F(CommitTest, WhatWasMovedToARefusedNameIsNotLost) {
  Put("notes", "precious");
  Put("kept/a", "one of two");
  Put("gone", "just deleted");
  rules_.refused[".bashrc"] = "protected";
  rules_.refused["zz"] = "protected";
  const CommitReport report = CommitOf("mv notes .bashrc; mv kept zz; rm gone");
  EXPECT_EQ(Get("notes"), "precious");
  EXPECT_EQ(Get("kept/a"), "one of two");
  EXPECT_EQ(report.deleted, Paths{"gone"});
  EXPECT_NE(Lines(report.withheld).find("notes: was kept, because it may have been moved to .bashrc"),
            std::string::npos)
      << Lines(report.withheld);
}

TEST_F(CommitTest, WhatWasMovedToARefusedNameAndEditedIsNotLost) {
  Put("proj/.env", "SECRET=1\n");
  Put("proj/.vscode/settings.json", "{}\n");
  Put("proj/main", "x");
  fs::create_symlink("shared.env", lower_ / "proj/.envrc");
  rules_.unwritten_names = {".env", ".envrc", ".vscode"};
  const CommitReport report = CommitOf(
      "mv proj app; echo NEW=2 >> app/.env; echo '{1}' > app/.vscode/settings.json; ln -sfn other.env app/.envrc");
  EXPECT_EQ(Get("proj/.env"), "SECRET=1\n");
  EXPECT_EQ(Get("proj/.vscode/settings.json"), "{}\n");
  EXPECT_EQ(fs::read_symlink(lower_ / "proj/.envrc"), "shared.env");
  EXPECT_EQ(report.deleted, Paths{"proj/main"});
  EXPECT_EQ(report.created, Paths{"app/main"});
  for (const char* name : {".env", ".envrc", ".vscode/settings.json"})
    EXPECT_NE(
        Lines(report.withheld).find("proj/" + std::string(name) + ": was kept, because it may have been moved to "),
        std::string::npos)
        << Lines(report.withheld);
}

TEST_F(CommitTest, APreviewKeepsWhatACommitKeeps) {
  Put("proj/.env", "SECRET=1\n");
  rules_.unwritten_names = {".env"};
  Shell("mv proj app; echo NEW=2 >> app/.env");
  const base::UniqueFd lower(::open(lower_.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  const auto preview = PreviewCommit(upper_.get(), lower.get(), rules_, limits_);
  ASSERT_TRUE(preview) << preview.error().message;
  EXPECT_EQ(preview->deleted, Paths{});
  EXPECT_EQ(Lines(preview->withheld), Lines(Commit().withheld));
}

TEST_F(CommitTest, ALinkThatWasMovedAndMayNotBeMadeIsNotLost) {
  fs::create_symlink("/srv/data", lower_ / "data");
  fs::create_symlink("/usr", lower_ / "far");
  fs::create_symlink("far/share", lower_ / "near");
  fs::create_symlink("elsewhere/../..", lower_ / "gone");
  const CommitReport report = CommitOf("mv data data2; mv near near2; rm gone");
  EXPECT_EQ(fs::read_symlink(lower_ / "data"), "/srv/data");
  EXPECT_EQ(fs::read_symlink(lower_ / "near"), "far/share");
  EXPECT_EQ(report.deleted, Paths{"gone"});
}

TEST_F(CommitTest, AChangeStandsAlthoughACopyOfTheOldContentIsRefused) {
  Put(".env.example", "A=1\n");
  Put("gone", "just deleted");
  rules_.refused[".env"] = "protected";
  const CommitReport report = CommitOf("cp .env.example .env; echo B=2 >> .env.example; rm gone");
  EXPECT_EQ(Get(".env.example"), "A=1\nB=2\n");
  EXPECT_EQ(Lines(report.withheld), ".env: protected\n");
  EXPECT_EQ(report.deleted, Paths{"gone"});
}

TEST_F(CommitTest, ANameThatIsRefusedElsewhereIsDeleted) {
  Put("settings/config", "mine");
  rules_.refused["repo/config"] = "protected";
  EXPECT_EQ(CommitOf("mkdir repo; echo other > repo/config; rm settings/config").deleted, Paths{"settings/config"});
}

TEST_F(CommitTest, ADeletionBesideARefusalStands) {
  Put("gone", "just deleted");
  rules_.refused[".bashrc"] = "protected";
  EXPECT_EQ(CommitOf("echo evil > .bashrc; rm gone").deleted, Paths{"gone"});
}

TEST_F(CommitTest, NamesOfSkerrysOwnAreNotCarriedOver) {
  const CommitReport report =
      CommitOf("echo x > .skerry-stage-evil; mkdir -p d/.skerry-commit-x; echo y > d/.skerry-commit-x/f");
  EXPECT_TRUE(report.created.empty());
  EXPECT_EQ(report.withheld.size(), 2U);
  EXPECT_FALSE(Exists(".skerry-stage-evil"));
}

TEST_F(CommitTest, ATreeOfAThousandLevelsIsCarriedOver) {
  CommitOf("p=.; for i in $(seq 1000); do p=$p/d; done; mkdir -p $p; echo deep > $p/f");
  std::string path;
  for (int i = 0; i < 1000; ++i) path += "d/";
  EXPECT_EQ(Get(path + "f"), "deep\n");
}

}  // namespace
}  // namespace skerry::workspace
