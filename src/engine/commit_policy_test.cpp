#include "engine/commit_policy.hpp"

#include <fcntl.h>

#include <filesystem>
#include <fstream>
#include <string>

#include <gtest/gtest.h>

#include "base/unique_fd.hpp"
#include "support/temporary_directory.hpp"

namespace skerry::engine {
namespace {

namespace fs = std::filesystem;
using workspace::ChangeKind;

class Contents : public workspace::ChangeContents {
 public:
  Contents(std::string now, std::string before) : now_(std::move(now)), before_(std::move(before)) {}
  [[nodiscard]] base::Result<std::string> ReadNew(std::size_t) const override { return now_; }
  [[nodiscard]] base::Result<std::string> ReadOld(std::size_t) const override { return before_; }

 private:
  std::string now_;
  std::string before_;
};

// Two directories stand in for the layers: the workspace as it was, and as the program left it.
class CommitPolicyTest : public testing::Test {
 protected:
  CommitPolicyTest() {
    for (const char* name : {"lower", "merged"}) fs::create_directory(base_ / name);
  }

  void Put(const std::string& path, const std::string& text = "") const {
    fs::create_directories((base_ / path).parent_path());
    std::ofstream(base_ / path) << text;
  }
  void PutRepository(const std::string& path, const std::string& config = "") const {
    for (const char* name : {"objects", "refs"}) fs::create_directories(base_ / path / name);
    Put(path + "/HEAD");
    Put(path + "/config", config);
  }

  std::string Refuses(const std::string& path, ChangeKind kind = ChangeKind::kFile, const std::string& now = "",
                      const std::string& before = "", mode_t mode = 0) const {
    const base::UniqueFd lower(::open((base_ / "lower").c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    const base::UniqueFd merged(::open((base_ / "merged").c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    CommitPolicy policy({.deny_write = patterns_, .protected_paths = paths_}, owner_,
                        {.merged = merged.get(), .lower = lower.get()});
    policy.Begin(found_);
    return policy.Refuses({.path = path, .kind = kind, .mode = mode}, Contents(now, before));
  }

  std::string Tells(const std::string& path) const {
    const base::UniqueFd lower(::open((base_ / "lower").c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    const base::UniqueFd merged(::open((base_ / "merged").c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    return CommitPolicy({.deny_write = patterns_, .protected_paths = paths_}, owner_,
                        {.merged = merged.get(), .lower = lower.get()})
        .Tells({.path = path});
  }

  support::TemporaryDirectory directory_;
  fs::path base_ = directory_.path();
  base::PathPatterns patterns_;
  policy::ProtectedPaths paths_;
  core::WorkspaceOwner owner_ = core::WorkspaceOwner::kPerson;
  workspace::OverlayChanges found_;
};

TEST_F(CommitPolicyTest, OrdinaryFilesPass) {
  for (const char* path : {"a", "src/main.cpp", ".gitignore", ".git/objects/ab/cd"})
    EXPECT_EQ(Refuses(path), "") << path;
}

TEST_F(CommitPolicyTest, WhatRunsOnThePersonsSideDoesNot) {
  for (const char* path : {".git/hooks/pre-commit", "a/b/.bashrc", ".vscode/tasks.json"})
    EXPECT_NE(Refuses(path), "") << path;
}

TEST_F(CommitPolicyTest, InstructionsThatAreNewPassAndAreTold) {
  for (const char* path : {"CLAUDE.md", "a/AGENTS.md", ".github/instructions/x.md", ".cursorrules"}) {
    EXPECT_EQ(Refuses(path), "") << path;
    EXPECT_EQ(Refuses(path, ChangeKind::kLink), "") << path;
    EXPECT_EQ(Tells(path), "new instructions for agents") << path;
  }
  EXPECT_EQ(Refuses(".github/instructions", ChangeKind::kDirectory), "");
  EXPECT_EQ(Tells("README.md"), "");
  owner_ = core::WorkspaceOwner::kSkerry;
  EXPECT_EQ(Tells("CLAUDE.md"), "");
}

TEST_F(CommitPolicyTest, InstructionsThatWereThereStay) {
  for (const char* path : {"CLAUDE.md", "a/AGENTS.md", ".github/instructions/x.md"}) Put("lower/" + std::string(path));
  fs::create_symlink("CLAUDE.md", base_ / "lower/GEMINI.md");
  fs::create_directories(base_ / "merged/a");
  fs::create_directories(base_ / "merged/.github/instructions");
  for (const char* path : {"CLAUDE.md", "a/AGENTS.md", ".github/instructions/x.md", "GEMINI.md"}) {
    for (const ChangeKind kind : {ChangeKind::kFile, ChangeKind::kLink, ChangeKind::kDeletion})
      EXPECT_EQ(Refuses(path, kind), "instructions for agents that were there before") << path;
  }
  EXPECT_EQ(Refuses(".github/instructions", ChangeKind::kDirectory), "");
  EXPECT_EQ(Refuses(".github/instructions/new.md"), "");
  // Instructions go with the directory around them.
  fs::remove_all(base_ / "merged/a");
  EXPECT_EQ(Refuses("a/AGENTS.md", ChangeKind::kDeletion), "");
}

TEST_F(CommitPolicyTest, WhatAPersonsLinkLeadsToIsJudgedByItsName) {
  PutRepository("lower/.git");
  Put("lower/dotfiles/bashrc");
  Put("lower/docs/guide.md");
  fs::create_directories(base_ / "lower/tools/git");
  fs::create_directories(base_ / "lower/editor");
  fs::create_directories(base_ / "merged/docs");
  fs::create_symlink("dotfiles/bashrc", base_ / "lower/.bashrc");
  fs::create_symlink(base_ / "lower/docs/guide.md", base_ / "lower/AGENTS.md");
  fs::create_symlink("AGENTS.md", base_ / "lower/CLAUDE.md");
  fs::create_symlink("../tools/git", base_ / "lower/.git/hooks");
  fs::create_symlink("editor", base_ / "lower/.vscode");
  fs::create_symlink("later/profile", base_ / "lower/.profile");
  fs::create_symlink("docs", base_ / "lower/documents");
  EXPECT_EQ(Refuses("dotfiles/bashrc"), "shell start-up file");
  EXPECT_EQ(Refuses("docs/guide.md"), "instructions for agents that were there before");
  EXPECT_EQ(Refuses("docs/guide.md", ChangeKind::kDeletion), "instructions for agents that were there before");
  EXPECT_EQ(Refuses("tools/git/pre-commit"), "git hook");
  EXPECT_EQ(Refuses("editor/tasks.json"), "editor tasks");
  EXPECT_EQ(Refuses("later/profile"), "shell start-up file");
  for (const char* path : {"docs/other.md", "dotfiles/vim", "tools/other", "later/x"})
    EXPECT_EQ(Refuses(path), "") << path;
}

TEST_F(CommitPolicyTest, AnEnvironmentThatWasThereKeepsItsPrograms) {
  Put("lower/env/pyvenv.cfg", "home = /usr/bin");
  Put("lower/env/bin/python");
  fs::create_directories(base_ / "merged/env/bin");
  for (const char* path : {"env/bin/python", "env/bin/git", "env/Scripts/x.exe", "env/BIN/x", "env/pyvenv.cfg"})
    for (const ChangeKind kind : {ChangeKind::kFile, ChangeKind::kLink})
      EXPECT_EQ(Refuses(path, kind), "program of an environment that was there before") << path;
  EXPECT_NE(Refuses("env/scripts", ChangeKind::kDirectory), "");
  EXPECT_EQ(Refuses("env/bin", ChangeKind::kDirectory), "") << "what is in it is asked for by itself";
  EXPECT_NE(Refuses("env/bin", ChangeKind::kLink), "");
  EXPECT_NE(Refuses("env", ChangeKind::kLink), "");
  EXPECT_NE(Refuses("env/pyvenv.cfg", ChangeKind::kDeletion), "") << "the next run would find no environment";
  for (const char* path : {"env/lib/python3.11/site-packages/x.py", "env/bin2/x", "bin/x", "new/bin/python",
                           "new/pyvenv.cfg", "env/lib/bin/x"})
    EXPECT_EQ(Refuses(path), "") << path;
  EXPECT_EQ(Refuses("env/bin/greet", ChangeKind::kDeletion), "");
  EXPECT_EQ(Refuses("env", ChangeKind::kDirectory), "");
  fs::remove_all(base_ / "merged/env");
  EXPECT_EQ(Refuses("env/pyvenv.cfg", ChangeKind::kDeletion), "") << "it goes with its directory";
  owner_ = core::WorkspaceOwner::kSkerry;
  EXPECT_EQ(Refuses("env/bin/python"), "");
}

TEST_F(CommitPolicyTest, AnEnvironmentThatIsNewArrivesWhole) {
  const base::UniqueFd lower(::open((base_ / "lower").c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  CommitPolicy policy({.deny_write = patterns_, .protected_paths = paths_}, owner_,
                      {.merged = lower.get(), .lower = lower.get()});
  const auto refuses = [&](const char* path) { return policy.Refuses({.path = path}, Contents("", "")); };
  EXPECT_EQ(refuses("env/bin/python"), "");
  Put("lower/env/pyvenv.cfg");  // by the commit itself
  EXPECT_EQ(refuses("env/bin/python"), "");
}

TEST_F(CommitPolicyTest, TheWorkspaceItselfMayBeAnEnvironment) {
  Put("lower/pyvenv.cfg");
  EXPECT_NE(Refuses("bin/python"), "");
  EXPECT_NE(Refuses("pyvenv.cfg", ChangeKind::kDeletion), "");
  EXPECT_EQ(Refuses("src/x"), "");
}

TEST_F(CommitPolicyTest, RowsOfAnOrganisationHold) {
  EXPECT_EQ(Refuses("x/.acme/start"), "");
  paths_ = policy::ProtectedPaths::Make(std::vector<std::string>{"runs | anywhere | .acme | acme start-up"}).value();
  EXPECT_EQ(Refuses("x/.acme/start"), "acme start-up");
}

TEST_F(CommitPolicyTest, InADirectoryOfSkerryOnlyThePatternsHold) {
  owner_ = core::WorkspaceOwner::kSkerry;
  patterns_ = base::PathPatterns::Make(std::vector<std::string>{"*.key"}).value();
  EXPECT_EQ(Refuses(".bashrc"), "");
  EXPECT_NE(Refuses("a/b.key"), "");
  EXPECT_NE(Refuses("a/b.key", ChangeKind::kDeletion), "");
}

TEST_F(CommitPolicyTest, ConfigurationIsJudgedByWhatIsNewInIt) {
  const std::string own = "[alias]\nx = !mine\n";
  EXPECT_EQ(Refuses(".git/config", ChangeKind::kFile, own + "[user]\nname = a\n", own), "");
  EXPECT_NE(Refuses(".git/config", ChangeKind::kFile, own + "[core]\npager = evil\n", own), "");
}

TEST_F(CommitPolicyTest, WhereARepositoryPushesToStaysAsItWas) {
  const std::string own =
      "[remote \"origin\"]\nurl = https://example.org/a.git\n[branch \"main\"]\nremote = origin\nmerge = "
      "refs/heads/main\n";
  for (const std::string git : {".git", "nested/project/.git", ".git/modules/part", "bare"}) {
    const std::string config = git + "/config";
    PutRepository("merged/" + git);
    // A new repository may have any remote.
    EXPECT_EQ(Refuses(config, ChangeKind::kFile, own), "") << git;
    PutRepository("lower/" + git, own);
    EXPECT_EQ(Refuses(config, ChangeKind::kFile, own + "[branch \"new\"]\nremote = origin\n", own), "") << git;
    EXPECT_EQ(Refuses(config, ChangeKind::kFile, "[remote \"origin\"]\nurl = https://evil.example/a.git\n", own),
              "git configuration that leads elsewhere: remote.origin.url")
        << git;
    EXPECT_NE(Refuses(config, ChangeKind::kFile, own + "[remote \"fork\"]\nurl = https://evil.example/a.git\n", own),
              "")
        << git;
    // A new file that git reads besides the configuration.
    EXPECT_NE(
        Refuses(git + "/config.worktree", ChangeKind::kFile, "[remote \"origin\"]\npushurl = https://evil.example/\n"),
        "")
        << git;
  }
}

TEST_F(CommitPolicyTest, WhatIsLeftOfARepositoryCountsLikeOne) {
  Put("lower/.git/config", "[remote \"origin\"]\nurl = https://example.org/a.git\n");
  EXPECT_NE(Refuses(".git/config", ChangeKind::kFile, "[remote \"origin\"]\nurl = https://evil.example/a.git\n",
                    "[remote \"origin\"]\nurl = https://example.org/a.git\n"),
            "");
}

TEST_F(CommitPolicyTest, AFileThatARepositoryIncludesLeadsNowhereElse) {
  PutRepository("lower/p/.git", "[include]\npath = ../extra\n");
  EXPECT_NE(Refuses("p/extra", ChangeKind::kFile, "[remote]\npushDefault = https://evil.example/\n"), "");
  EXPECT_NE(Refuses("p/extra", ChangeKind::kFile, "", "[remote]\npushDefault = private\n"), "");
  EXPECT_EQ(Refuses("p/extra", ChangeKind::kFile, "[user]\nname = a\n"), "");
}

TEST_F(CommitPolicyTest, WhatWasARepositoryDoesNotBecomeALinkToAnother) {
  const std::string link = "gitdir: ../other/.git\n";
  EXPECT_EQ(Refuses("new/.git", ChangeKind::kFile, link), "");
  Put("lower/link/.git", "gitdir: ../.git/modules/link\n");
  EXPECT_NE(Refuses("link/.git", ChangeKind::kFile, link, "gitdir: ../.git/modules/link\n"), "");
  EXPECT_EQ(Refuses("link/.git", ChangeKind::kFile, link, link), "");
  PutRepository("lower/directory/.git");
  EXPECT_NE(Refuses("directory/.git", ChangeKind::kFile, link), "");
}

TEST_F(CommitPolicyTest, ABareRepositoryIsOneByItsContents) {
  PutRepository("merged/data");
  EXPECT_NE(Refuses("data/hooks/post-update"), "");
  EXPECT_NE(Refuses("data/config", ChangeKind::kFile, "[core]\nfsmonitor = evil\n"), "");
  EXPECT_EQ(Refuses("data/objects/x"), "");
}

TEST_F(CommitPolicyTest, ADirectoryThatWasArmedEarlierDoesNotBecomeARepository) {
  Put("lower/x/hooks/anything");
  PutRepository("merged/x");
  EXPECT_NE(Refuses("x/HEAD"), "");
  PutRepository("merged/y");
  EXPECT_EQ(Refuses("y/HEAD"), "");
}

TEST_F(CommitPolicyTest, HooksGoWithTheirRepositoryAndNotAlone) {
  PutRepository("lower/p/.git");
  PutRepository("merged/p/.git");
  EXPECT_NE(Refuses("p/.git/hooks/pre-commit", ChangeKind::kDeletion), "");
  EXPECT_NE(Refuses("p/.git/config", ChangeKind::kDeletion), "");
  EXPECT_EQ(Refuses("p/file", ChangeKind::kDeletion), "");
  fs::remove_all(base_ / "merged/p/.git");
  EXPECT_NE(Refuses("p/.git/config", ChangeKind::kDeletion), "") << "a later run could put another one there";
  fs::remove_all(base_ / "merged/p");
  EXPECT_EQ(Refuses("p/.git/hooks/pre-commit", ChangeKind::kDeletion), "");
  EXPECT_EQ(Refuses("p/.git/config", ChangeKind::kDeletion), "");
}

TEST_F(CommitPolicyTest, WhatARepositoryRefersToIsProtectedAtAnyDepth) {
  PutRepository("lower/a/p/.git", "[core]\nhooksPath = tools/git\n[include]\npath = ../extra\n");
  Put("lower/a/p/extra", "[include]\npath = more\n");
  EXPECT_NE(Refuses("a/p/tools/git/pre-push"), "");
  EXPECT_EQ(Refuses("a/p/tools/other"), "");
  for (const char* path : {"a/p/extra", "a/p/more"}) {
    EXPECT_NE(Refuses(path, ChangeKind::kFile, "[core]\nsshCommand = evil\n"), "") << path;
    EXPECT_EQ(Refuses(path, ChangeKind::kFile, "[user]\nname = a\n"), "") << path;
  }
}

TEST_F(CommitPolicyTest, AHookThatIsALinkIsWhereItLeadsTo) {
  PutRepository("lower/.git");
  Put("lower/scripts/check.sh");
  fs::create_directories(base_ / "lower/.git/hooks");
  fs::create_symlink("../../scripts/check.sh", base_ / "lower/.git/hooks/pre-commit");
  fs::create_symlink("../../scripts/later.sh", base_ / "lower/.git/hooks/pre-push");
  EXPECT_NE(Refuses("scripts/check.sh"), "");
  EXPECT_NE(Refuses("scripts/check.sh", ChangeKind::kDeletion), "");
  EXPECT_NE(Refuses("scripts/later.sh"), "");
  EXPECT_NE(Refuses("scripts", ChangeKind::kLink), "");
  EXPECT_EQ(Refuses("scripts/other.sh"), "");
}

TEST_F(CommitPolicyTest, HooksPathIsWhereItReallyLeads) {
  fs::create_directory_symlink("ci", base_ / "lower/linked");
  for (const std::string& path : {(base_ / "lower/ci").string(), std::string("../lower/ci"), std::string("linked"),
                                  std::string("./ci/"), std::string("x/../ci")}) {
    PutRepository("lower/.git", "[core]\nhooksPath = " + path + "\n");
    EXPECT_NE(Refuses("ci/pre-commit"), "") << path;
    EXPECT_NE(Refuses("ci", ChangeKind::kLink), "") << path;
    EXPECT_EQ(Refuses("other/file"), "") << path;
  }
  PutRepository("lower/.git", "[core]\nhooksPath = linked\n");
  for (const ChangeKind kind : {ChangeKind::kLink, ChangeKind::kDirectory, ChangeKind::kFile, ChangeKind::kDeletion})
    EXPECT_NE(Refuses("linked", kind), "");
  PutRepository("lower/.git", "[core]\nhooksPath = a/b/hk\n");
  EXPECT_NE(Refuses("a", ChangeKind::kLink), "") << "what is not there yet";
  EXPECT_EQ(Refuses("a", ChangeKind::kDirectory), "");
  PutRepository("lower/.git", "[core]\nhooksPath = .\n");
  EXPECT_NE(Refuses("pre-commit"), "");
  EXPECT_EQ(Refuses("main.cpp"), "");
}

TEST_F(CommitPolicyTest, ConfigurationBesideAndAroundTheWorkspaceCounts) {
  PutRepository("lower/own/.git");
  Put("lower/own/.git/config.worktree", "[core]\nhooksPath = ci\n");
  EXPECT_NE(Refuses("own/ci/pre-commit"), "");
  // A linked worktree, whose repository lies elsewhere.
  PutRepository("main/.git", "[core]\nhooksPath = ci\n");
  Put("main/.git/worktrees/tree/commondir", "../..\n");
  Put("lower/tree/.git", "gitdir: " + (base_ / "main/.git/worktrees/tree").string() + "\n");
  EXPECT_NE(Refuses("tree/ci/pre-commit"), "");
  EXPECT_EQ(Refuses("ci/pre-commit"), "");
  // The repository that the workspace lies in.
  PutRepository(".git", "[core]\nhooksPath = lower/above\n");
  EXPECT_NE(Refuses("above/pre-commit"), "");
}

TEST_F(CommitPolicyTest, ProgramsThatTheConfigurationNamesAreLikeHooks) {
  Put("lower/tools/fsm.sh");
  Put("lower/tools/clean.sh");
  Put("lower/convert");
  Put("lower/log");
  PutRepository("lower/.git",
                "[core]\nfsmonitor = tools/fsm.sh\nsshCommand = ssh -F " + (base_ / "lower/ssh/config").string() +
                    "\n[filter \"a\"]\nclean = $(git rev-parse --show-toplevel)/tools/clean.sh %f\n"
                    "[diff \"a\"]\ntextconv = sh convert\n[alias]\nl = log --graph\nb = !./later.sh HEAD config\n");
  for (const char* path : {"tools/fsm.sh", "tools/clean.sh", "ssh/config", "convert", "later.sh"}) {
    EXPECT_NE(Refuses(path), "") << path;
    EXPECT_NE(Refuses(path, ChangeKind::kLink), "") << path;
    EXPECT_NE(Refuses(path, ChangeKind::kDeletion), "") << path;
  }
  for (const char* path : {"log", "tools/other.sh", "b", "HEAD", ".git/HEAD", ".git/refs/heads/main"})
    EXPECT_EQ(Refuses(path), "") << path;
}

TEST_F(CommitPolicyTest, IncludedFilesAreWhereTheyReallyAre) {
  Put("lower/cfg/git");
  PutRepository("lower/.git", "[include]\npath = " + (base_ / "lower/cfg/git").string() + "\n");
  EXPECT_NE(Refuses("cfg/git", ChangeKind::kFile, "[core]\nfsmonitor = evil\n"), "");
  EXPECT_EQ(Refuses("cfg/git", ChangeKind::kFile, "[user]\nname = a\n"), "");
}

TEST_F(CommitPolicyTest, AConfigurationThatIsNotUnderstoodHoldsProgramsBack) {
  PutRepository("lower/p/.git", "[core\nhooksPath = ci\n");
  EXPECT_NE(Refuses("p/ci/pre-commit", ChangeKind::kFile, "", "", 0755), "");
  EXPECT_NE(Refuses("p/ci/pre-commit", ChangeKind::kLink), "");
  EXPECT_EQ(Refuses("p/ci/text", ChangeKind::kFile, "", "", 0644), "");
  EXPECT_EQ(Refuses("q/program", ChangeKind::kFile, "", "", 0755), "");
  // A long line is understood.
  PutRepository("lower/q/.git", "[alias]\nl = log " + std::string(3000, 'x') + "\n[core]\nhooksPath = ci\n");
  EXPECT_NE(Refuses("q/ci/pre-commit"), "");
  EXPECT_EQ(Refuses("q/program", ChangeKind::kFile, "", "", 0755), "");
}

TEST_F(CommitPolicyTest, WhatGitRunsGoesWithItsWorkingTree) {
  PutRepository("lower/p/.git", "[core]\nhooksPath = ci\n");
  Put("lower/p/ci/pre-commit");
  fs::create_directories(base_ / "merged/p");
  fs::create_directory_symlink("ci", base_ / "lower/p/linked");
  PutRepository("lower/p/.git", "[core]\nhooksPath = linked\n");
  EXPECT_NE(Refuses("p/ci/pre-commit", ChangeKind::kDeletion), "");
  EXPECT_NE(Refuses("p/linked", ChangeKind::kDeletion), "");
  fs::remove_all(base_ / "merged/p");
  EXPECT_EQ(Refuses("p/ci/pre-commit", ChangeKind::kDeletion), "");
  EXPECT_EQ(Refuses("p/linked", ChangeKind::kDeletion), "");
}

TEST_F(CommitPolicyTest, WhatMakesARepositoryGoesWithItAndNotAlone) {
  for (const std::string git : {"p/.git", "bare", "p/.git/modules/part"}) {
    PutRepository("lower/" + git);
    fs::create_directories(base_ / "merged" / git);
    for (const char* name : {"HEAD", "objects", "refs", "config"})
      EXPECT_NE(Refuses(git + "/" + name, ChangeKind::kDeletion), "") << git << name;
    for (const char* name : {"index", "packed-refs", "refs/heads/HEAD", "logs/HEAD"})
      EXPECT_EQ(Refuses(git + "/" + name, ChangeKind::kDeletion), "") << git << name;
  }
  EXPECT_NE(Refuses("bare/hooks/post-update"), "") << "it stays one";
  fs::remove_all(base_ / "merged/p/.git/modules/part");
  EXPECT_NE(Refuses("p/.git/modules/part/config", ChangeKind::kDeletion), "") << "a later run could put another there";
  fs::remove_all(base_ / "merged/p");
  fs::remove_all(base_ / "merged/bare");
  for (const char* path : {"p/.git/HEAD", "bare/HEAD", "bare/objects"})
    EXPECT_EQ(Refuses(path, ChangeKind::kDeletion), "") << path;
  // The deletion is refused when something else takes the place of the directory.
  fs::create_symlink("elsewhere", base_ / "merged/p");
  EXPECT_NE(Refuses("p/.git/config", ChangeKind::kDeletion), "");
}

TEST_F(CommitPolicyTest, ADotGitIsARepositoryWhateverIsMissingInIt) {
  Put("lower/.git/index");
  Put("lower/.git/hooks/pre-push");
  EXPECT_NE(Refuses(".git/config", ChangeKind::kFile, "[remote \"o\"]\nurl = https://evil.example/\n"), "");
  EXPECT_NE(Refuses(".git/hooks/pre-push", ChangeKind::kDeletion), "");
}

TEST_F(CommitPolicyTest, ADotGitThatWasAFileStaysOne) {
  Put("lower/tree/.git", "gitdir: ../.git/modules/tree\n");
  fs::create_directories(base_ / "merged/tree");
  EXPECT_NE(Refuses("tree/.git", ChangeKind::kDirectory), "");
  EXPECT_NE(Refuses("tree/.git", ChangeKind::kDeletion), "");
  fs::remove_all(base_ / "merged/tree");
  EXPECT_EQ(Refuses("tree/.git", ChangeKind::kDeletion), "");
}

TEST_F(CommitPolicyTest, ARepositoryDoesNotTakeADirectoryFromAnother) {
  PutRepository("lower/.git");
  Put("lower/src/file");
  fs::create_directories(base_ / "lower/empty");
  for (const ChangeKind kind : {ChangeKind::kDirectory, ChangeKind::kFile}) {
    EXPECT_NE(Refuses("src/.git", kind, "gitdir: ../.git/modules/src\n"), "");
    EXPECT_EQ(Refuses("empty/.git", kind, "gitdir: ../.git/modules/empty\n"), "");
    EXPECT_EQ(Refuses("new/.git", kind, "gitdir: ../.git/modules/new\n"), "");
  }
  EXPECT_EQ(Refuses(".git", ChangeKind::kDirectory), "");
  // Where there is no repository, a new one may begin.
  fs::remove_all(base_ / "lower/.git");
  EXPECT_EQ(Refuses("src/.git", ChangeKind::kDirectory), "");
  EXPECT_EQ(Refuses(".git", ChangeKind::kDirectory), "");
  // The workspace itself may lie in a repository, such as that of a whole home.
  PutRepository(".git");
  EXPECT_EQ(Refuses("src/.git", ChangeKind::kDirectory), "");
  Put(".git/index", std::string("DIRC\0\0\0\2", 8) + "lower/src/file");
  EXPECT_NE(Refuses("src/.git", ChangeKind::kDirectory), "");
  EXPECT_NE(Refuses(".git", ChangeKind::kDirectory), "");
  Put("lower/other/file");
  EXPECT_EQ(Refuses("other/.git", ChangeKind::kDirectory), "");
}

TEST_F(CommitPolicyTest, ARepositoryThatIsMovedLeadsWhereItDid) {
  const std::string own = "[remote \"origin\"]\nurl = https://example.org/a.git\n";
  const std::string evil = "[remote \"origin\"]\nurl = https://evil.example/a.git\n";
  PutRepository("lower/old/proj/.git", own);
  Put("lower/old/tree/.git", "gitdir: /elsewhere\n");
  found_.changes = {{.path = "old", .kind = ChangeKind::kDeletion}};
  EXPECT_EQ(Refuses("new/proj/.git/config", ChangeKind::kFile, own), "");
  EXPECT_NE(Refuses("new/proj/.git/config", ChangeKind::kFile, evil), "");
  EXPECT_NE(Refuses("new/tree/.git/config", ChangeKind::kFile, evil), "");
  EXPECT_EQ(Refuses("new/proj/.git/config", ChangeKind::kFile, "[user]\nname = a\n"), "");
  EXPECT_EQ(Refuses("new/other/.git/config", ChangeKind::kFile, evil), "");
  found_.changes = {{.path = "old/proj", .kind = ChangeKind::kDeletion}};
  EXPECT_NE(Refuses("app/.git/config", ChangeKind::kFile, evil), "");
  found_.changes.clear();
  EXPECT_EQ(Refuses("app/.git/config", ChangeKind::kFile, evil), "");
}

}  // namespace
}  // namespace skerry::engine
