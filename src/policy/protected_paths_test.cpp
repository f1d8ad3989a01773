#include "policy/protected_paths.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace skerry::policy {
namespace {

PathVerdict Judge(std::string_view path, InGitDirectory in_git_directory) {
  return ProtectedPaths().Judge(path, in_git_directory);
}

std::optional<std::string> JudgeSymbolicLink(std::string_view path, InGitDirectory in_git_directory) {
  return ProtectedPaths().JudgeSymbolicLink(path, in_git_directory);
}

std::optional<std::string> ReasonOf(std::string_view path) {
  return Judge(path, InGitDirectory::kNo).reason;
}

ContentQuestion QuestionOf(std::string_view path, InGitDirectory in_git_directory = InGitDirectory::kNo) {
  return Judge(path, in_git_directory).question;
}

constexpr std::string_view kRebase = "open rebase, which can start programs; git checkout leaves it";
constexpr std::string_view kWorktree = "git worktree, which leads into the sandbox; git worktree add makes one here";

TEST(ProtectedPathsTest, NamesTheReason) {
  const std::vector<std::pair<std::string_view, std::string_view>> cases = {
      {".git/hooks/pre-commit", "git hook"},
      {".git/hooks/anything", "git hook"},
      {".git/hooks/lib/common.sh", "git hook"},
      {".git/modules/a/hooks/pre-commit", "git hook"},
      {".git/modules/a/b/hooks/x", "git hook"},
      {"hooks/post-checkout", "git hook"},
      {"x.git/hooks/update", "git hook"},
      {".githooks/commit-msg", "git hook"},
      {".github/hooks/x.json", "git hook"},
      {".husky/pre-commit", "git hook configuration"},
      {".pre-commit-config.yaml", "git hook configuration"},
      {".git/worktrees/a/gitdir", kWorktree},
      {".git/rebase-merge/git-rebase-todo", kRebase},
      {".git/modules/a/rebase-merge/git-rebase-todo", kRebase},
      {".git/commondir", "git directory link"},
      {"x/commondir", "git directory link"},
      {".git/remotes/origin", "git configuration"},
      {".git/branches/origin", "git configuration"},
      {".gitconfig", "git configuration"},
      {".gitmodules", "git configuration"},
      {".config/git/config", "git configuration"},
      {".hg/hgrc", "Mercurial configuration"},
      {".bashrc", "shell start-up file"},
      {".bash_profile", "shell start-up file"},
      {".bash_login", "shell start-up file"},
      {".bash_logout", "shell start-up file"},
      {".bash_aliases", "shell start-up file"},
      {".profile", "shell start-up file"},
      {".zshrc", "shell start-up file"},
      {".zprofile", "shell start-up file"},
      {".zshenv", "shell start-up file"},
      {".zlogin", "shell start-up file"},
      {".zlogout", "shell start-up file"},
      {".kshrc", "shell start-up file"},
      {".cshrc", "shell start-up file"},
      {".tcshrc", "shell start-up file"},
      {".login", "shell start-up file"},
      {".logout", "shell start-up file"},
      {".pam_environment", "shell start-up file"},
      {".inputrc", "shell start-up file"},
      {".config/fish/config.fish", "shell start-up file"},
      {".config/fish/conf.d/a.fish", "shell start-up file"},
      {".xprofile", "session start-up file"},
      {".xinitrc", "session start-up file"},
      {".xsession", "session start-up file"},
      {".xsessionrc", "session start-up file"},
      {".config/autostart/a.desktop", "session start-up file"},
      {".config/systemd/user/a.service", "session start-up file"},
      {".local/share/applications/a.desktop", "session start-up file"},
      {".local/bin/ls", "program on the search path"},
      {".envrc", "directory environment"},
      {".direnv/x", "directory environment"},
      {".vscode/tasks.json", "editor tasks"},
      {".vscode", "editor tasks"},
      {".vscode/mcp.json", "editor tasks"},
      {".idea/workspace.xml", "editor tasks"},
      {".zed/tasks.json", "editor tasks"},
      {".fleet/run.json", "editor tasks"},
      {".devcontainer/devcontainer.json", "editor tasks"},
      {"a.code-workspace", "editor tasks"},
      {".vimrc", "editor start-up file"},
      {".exrc", "editor start-up file"},
      {".nvimrc", "editor start-up file"},
      {".nvim.lua", "editor start-up file"},
      {".gvimrc", "editor start-up file"},
      {".emacs", "editor start-up file"},
      {".emacs.d/init.el", "editor start-up file"},
      {".dir-locals.el", "editor start-up file"},
      {".mcp.json", "agent configuration"},
      {".claude/settings.json", "agent configuration"},
      {".cursor/mcp.json", "agent configuration"},
      {".codex/config.toml", "agent configuration"},
      {".gemini/settings.json", "agent configuration"},
      {".windsurf/x", "agent configuration"},
      {".continue/config.json", "agent configuration"},
      {".roo/mcp.json", "agent configuration"},
      {".aider.conf.yml", "agent configuration"},
      {"opencode.json", "agent configuration"},
      {".opencode/x", "agent configuration"},
      {".gdbinit", "debugger start-up file"},
      {".lldbinit", "debugger start-up file"},
      {".pdbrc", "debugger start-up file"},
      {".Rprofile", "interpreter start-up file"},
      {".ripgreprc", "tool configuration"},
      {".tmux.conf", "tool configuration"},
      {".screenrc", "tool configuration"},
      {".wgetrc", "tool configuration"},
      {".curlrc", "tool configuration"},
      {".npmrc", "tool configuration"},
      {".yarnrc", "tool configuration"},
      {".yarnrc.yml", "tool configuration"},
      {".netrc", "keys and logins"},
      {".ssh/config", "keys and logins"},
      {".gnupg/gpg.conf", "keys and logins"},
  };
  for (const auto& [path, reason] : cases) {
    EXPECT_EQ(ReasonOf(path), reason) << path;
    EXPECT_EQ(ReasonOf(std::string("a/b.c/d e/f/") + std::string(path)), reason) << path;
  }
}

TEST(ProtectedPathsTest, EveryHookOfGitIsKnown) {
  for (
      const std::string name :
      {"applypatch-msg",     "pre-applypatch",     "post-applypatch",       "pre-commit",       "pre-merge-commit",
       "prepare-commit-msg", "commit-msg",         "post-commit",           "pre-rebase",       "post-checkout",
       "post-merge",         "pre-push",           "pre-receive",           "update",           "proc-receive",
       "post-receive",       "post-update",        "reference-transaction", "push-to-checkout", "pre-auto-gc",
       "post-rewrite",       "sendemail-validate", "fsmonitor-watchman",    "p4-changelist",    "p4-prepare-changelist",
       "p4-post-changelist", "p4-pre-submit",      "post-index-change"}) {
    EXPECT_EQ(ReasonOf("tools/hooks/" + name), "git hook") << name;
  }
}

TEST(ProtectedPathsTest, LeavesOtherFilesAlone) {
  for (const std::string_view path : {"",
                                      "a",
                                      "githooks.md",
                                      "hooks",
                                      "hooks/README",
                                      "hooks/useState.ts",
                                      "src/hooks/update.ts",
                                      "src/config",
                                      "src/pre-commit",
                                      ".github/workflows/ci.yml",
                                      ".gitignore",
                                      ".gitattributes",
                                      ".gitkeep",
                                      ".git",
                                      ".git/index",
                                      ".git/objects/ab/cd",
                                      ".git/objects/pack/pack-1.idx",
                                      ".git/HEAD",
                                      ".git/refs/heads/main",
                                      ".git/refs/remotes/origin/main",
                                      ".git/logs/HEAD",
                                      ".git/modules/a/refs/remotes/origin/HEAD",
                                      ".git/hooks",
                                      ".git/branches",
                                      ".git/modules",
                                      ".git/hooks/pre-commit.sample",
                                      ".git/info/exclude",
                                      ".git/description",
                                      ".git/packed-refs",
                                      ".git/COMMIT_EDITMSG",
                                      "Makefile",
                                      ".env.local",
                                      ".env.example",
                                      "bashrc",
                                      "x.bashrc",
                                      ".bashrc2",
                                      ".bashrc~",
                                      ".config",
                                      ".config/nextest.toml",
                                      ".config/dotnet-tools.json",
                                      ".local/share/x",
                                      "bin/ls",
                                      "vscode",
                                      ".vscodeignore",
                                      "package.json",
                                      ".eslintrc.json",
                                      ".editorconfig",
                                      "claude/settings.json",
                                      ".docker/nginx.conf",
                                      ".aws/task.json",
                                      "worktrees/a",
                                      "rebase-merge/a",
                                      "src/remotes/a",
                                      "docs/.profile.md",
                                      "a:b",
                                      "grün/岛.txt",
                                      "\xFF\xFE",
                                      "...",
                                      "code-workspace"}) {
    EXPECT_EQ(ReasonOf(path), std::nullopt) << path;
  }
}

TEST(ProtectedPathsTest, SeesThroughOtherSpellings) {
  for (const std::string_view path : {".GIT/hooks/x",
                                      ".Git/HOOKS/x",
                                      ".git\u200c/hooks/x",
                                      "\u200d.git/hooks/x",
                                      ".gi\u00ADt/hooks/x",
                                      ".git\uFEFF/hooks/x",
                                      ".g\u2064it/h\u206Aooks/x",
                                      ".g\uFE0Fit/hooks/x",
                                      ".g\u202Eit/hooks/x",
                                      ".git /hooks/x",
                                      ".git. . /hooks/x",
                                      ".git/hooks./x",
                                      "git~1/hooks/x",
                                      "GIT~1/hooks/x",
                                      ".git::$INDEX_ALLOCATION/hooks/x",
                                      ".git:a/hooks:b/x",
                                      "\uFF0E\uFF47\uFF49\uFF54/hooks/x",
                                      ".\uFF27it/hooks/x",
                                      ".git\xFF/hooks/x",
                                      ".\xE2\x80git/hooks/x",
                                      ".git\\hooks\\x",
                                      "a\\.git/hooks/x",
                                      ".git//hooks/./x",
                                      ".git/hooks/x.sample:y.exe/z",
                                      ".mcp.json.",
                                      ".MCP.JSON",
                                      "mcp~1.jso",
                                      ".mcp.json::$DATA",
                                      ".mcp\u2060.json ",
                                      ".BASHRC",
                                      ".bashrc .",
                                      "bashrc~1",
                                      "bash_p~2",
                                      "VSCODE~1/tasks.json",
                                      ".vscode\U000E0001/x",
                                      ".ba\u017Fhrc",
                                      ".z\u017Fhrc",
                                      ".\u212Ashrc",
                                      ".con\uFB01g/fish/x",
                                      "config~1/fish/x",
                                      "hooks/PRE-COMMIT",
                                      "hooks/pre-commit.",
                                      "A.Code-Workspace"}) {
    EXPECT_TRUE(ReasonOf(path)) << path;
  }
}

TEST(ProtectedPathsTest, FoldsNothingElse) {
  for (const std::string_view path : {".gît/hooks/x", ".git-/hooks/x", "git/hooks/x", "git~/hooks/x", "git~x/hooks/x",
                                      "gith~1/x", ".bash rc", "..bashrc", ".bashrс"}) {
    EXPECT_EQ(ReasonOf(path), std::nullopt) << path;
  }
}

TEST(ProtectedPathsTest, AsksForTheContentOfGitConfiguration) {
  for (const std::string_view path :
       {".git/config", "a/b/.git/config", ".GIT/CONFIG", ".git/config.", ".git/config.worktree", "git~1/config",
        ".git/modules/a/config", ".git/modules/a/b/config.worktree", ".git/modules/config"}) {
    EXPECT_EQ(QuestionOf(path), ContentQuestion::kGitConfig) << path;
    EXPECT_EQ(ReasonOf(path), std::nullopt) << path;
  }
  for (const std::string_view path : {"config", "src/config", ".git/config.lock", ".git/refs/heads/config",
                                      "a.git/config", ".gitignore", ".git/hooks/x", ".git/configs"}) {
    EXPECT_EQ(QuestionOf(path), ContentQuestion::kNone) << path;
  }
}

TEST(ProtectedPathsTest, AsksForTheContentOfAGitLink) {
  for (const std::string_view path : {".git", "a/.git", "a/.GIT", "a/.git\u200b", "git~1"}) {
    EXPECT_EQ(QuestionOf(path), ContentQuestion::kGitLink) << path;
  }
}

TEST(ProtectedPathsTest, AWorktreeIsCalledOne) {
  for (const char* link : {"/workspace/.git/worktrees/wt", "../.git/worktrees/wt"})
    EXPECT_EQ(JudgeGitLink("wt/.git", "gitdir: " + std::string(link) + "\n"), kWorktree) << link;
  EXPECT_EQ(JudgeGitLink("wt/.git", "gitdir: /elsewhere\n"), "link to another git directory");
}

TEST(ProtectedPathsTest, GitDirectoryByContentCountsLikeOneByName) {
  const auto reason = [](std::string_view path) { return Judge(path, InGitDirectory::kYes).reason; };
  EXPECT_EQ(reason("bare/hooks/anything"), "git hook");
  EXPECT_EQ(reason("bare/hooks/pre-commit.sample"), std::nullopt);
  EXPECT_EQ(reason("bare/rebase-merge/git-rebase-todo"), kRebase);
  EXPECT_EQ(reason("bare/worktrees/a/gitdir"), kWorktree);
  EXPECT_EQ(reason("bare/HEAD"), std::nullopt);
  EXPECT_EQ(reason("bare/refs/heads/main"), std::nullopt);
  for (const std::string_view path : {"config", "bare/config", "bare/config.worktree", "refs/config"}) {
    EXPECT_EQ(QuestionOf(path, InGitDirectory::kYes), ContentQuestion::kGitConfig) << path;
  }
}

TEST(ProtectedPathsTest, BranchMayHaveAnyName) {
  for (const std::string_view path :
       {".git/refs/heads/config", ".git/logs/refs/heads/config", ".git/refs/heads/hooks/fix"}) {
    const PathVerdict verdict = Judge(path, InGitDirectory::kYes);
    EXPECT_EQ(verdict.reason, std::nullopt) << path;
    EXPECT_EQ(verdict.question, ContentQuestion::kNone) << path;
  }
}

TEST(GitLinkTest, MayPointIntoTheWorkspacesOwnGitDirectory) {
  const std::vector<std::pair<std::string_view, std::string_view>> cases = {
      {"lib/.git", "gitdir: ../.git/modules/lib\n"},
      {"lib/.git", "gitdir: ../.git/modules/lib"},
      {"a/b/.git", "gitdir: ../../.git/modules/a/b\n"},
      {"sub/lib/.git", "gitdir: ../.git/modules/lib\n"},
      {"lib/.git", "gitdir: ../.git\n"},
  };
  for (const auto& [path, content] : cases)
    EXPECT_EQ(JudgeGitLink(path, content), std::nullopt) << path << " " << content;
}

TEST(GitLinkTest, MayPointNowhereElse) {
  using std::string_view_literals::operator""sv;
  for (const std::string_view content : {""sv,
                                         "gitdir:"sv,
                                         "gitdir: "sv,
                                         "gitdir: \n"sv,
                                         "gitdir:../.git\n"sv,
                                         "x"sv,
                                         "gitdir: /srv/x\n"sv,
                                         "gitdir: /.git/modules/x\n"sv,
                                         "gitdir: ../../.git/modules/x\n"sv,
                                         "gitdir: ../../../x\n"sv,
                                         "gitdir: evil\n"sv,
                                         "gitdir: ../evil.git\n"sv,
                                         "gitdir: x/../../.git\n"sv,
                                         "gitdir: ../.git/modules/../../evil\n"sv,
                                         "gitdir: ../.git/modules\n"sv,
                                         "gitdir: ../.git/refs/x\n"sv,
                                         "gitdir: ../.git/hooks\n"sv,
                                         "gitdir: ./../.git\n"sv,
                                         "gitdir: ..//.git\n"sv,
                                         "gitdir: ../.git\n\n"sv,
                                         "gitdir: ../.git\r\n"sv,
                                         "gitdir: ../.git\0x"sv,
                                         "gitdir: ../.GIT/modules/x\n"sv,
                                         "gitdir: ..\n"sv,
                                         " gitdir: ../.git\n"sv}) {
    EXPECT_TRUE(JudgeGitLink("lib/.git", content)) << testing::PrintToString(std::string(content));
  }
}

TEST(SymbolicLinkTest, MayNotStandForAProtectedDirectory) {
  for (const std::string_view path :
       {".git",       "a/.git",  ".git/hooks",  ".git/config",      ".git/objects", ".git/modules/a", ".vscode",
        ".bashrc",    "hooks",   "a/.githooks", ".config",          ".config/fish", ".local",         ".local/share",
        ".local/bin", ".github", ".Git/HOOKS",  "hooks/pre-commit", ".jj",          ".jj/repo"}) {
    EXPECT_TRUE(JudgeSymbolicLink(path, InGitDirectory::kNo)) << path;
  }
  EXPECT_TRUE(JudgeSymbolicLink("bare/config", InGitDirectory::kYes));
}

TEST(SymbolicLinkTest, MayStandAnywhereElse) {
  for (const std::string_view path :
       {"a", "a/b", "node_modules/.bin/x", "config", ".config/x", "share", ".gitignore"}) {
    EXPECT_EQ(JudgeSymbolicLink(path, InGitDirectory::kNo), std::nullopt) << path;
  }
}

}  // namespace
}  // namespace skerry::policy
