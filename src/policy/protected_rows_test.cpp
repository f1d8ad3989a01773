#include "policy/protected_rows.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "base/glob.hpp"
#include "policy/protected_paths.hpp"

namespace skerry::policy {
namespace {

constexpr PathKind kRuns = PathKind::kRuns;
constexpr PathKind kLogin = PathKind::kLogin;
constexpr PathKind kInstructs = PathKind::kInstructs;

struct Example {
  PathKind kind;
  std::string_view reason;
  std::string_view path;
};

// At least one example for every row of the table, as people have such files.
constexpr auto kExamples = std::to_array<Example>({
    {kRuns, "shell start-up file", ".bash_profile"},
    {kRuns, "shell start-up file", ".oh-my-zsh/custom/x.zsh"},
    {kRuns, "shell start-up file", ".inputrc"},
    {kRuns, "shell start-up file", ".bashrc.local"},
    {kRuns, "shell start-up file", ".p10k.zsh"},
    {kRuns, "shell start-up file", ".cargo/env"},
    {kRuns, "shell start-up file", ".cargo/env.fish"},
    {kRuns, "shell start-up file", ".nvm/nvm.sh"},
    {kRuns, "shell start-up file", ".config/fish/config.fish"},
    {kRuns, "session start-up file", ".xsessionrc"},
    {kRuns, "session start-up file", ".config/systemd/user/x.service"},
    {kRuns, "session start-up file", ".local/share/applications/x.desktop"},
    {kRuns, "program on the search path", ".local/bin/git"},
    {kRuns, "directory environment", ".env"},
    {kRuns, "directory environment", ".envrc"},
    {kRuns, "directory environment", "mise.local.toml"},
    {kRuns, "directory environment", "mise.production.toml"},
    {kRuns, "directory environment", ".mise.local.toml"},
    {kRuns, "directory environment", ".tool-versions"},
    {kRuns, "directory environment", "mise/config.toml"},
    {kRuns, "directory environment", "mise/conf.d/x.toml"},
    {kRuns, "directory environment", ".config/mise.toml"},
    {kRuns, "directory environment", ".config/mise/config.toml"},
    {kRuns, "directory environment", ".replit"},
    {kRuns, "directory environment", ".shadowenv.d/500_x.lisp"},
    {kRuns, "directory environment", ".flaskenv"},
    {kRuns, "directory environment", ".corepack.env"},
    {kRuns, "git configuration", ".gitmodules"},
    {kRuns, "git configuration", ".lfsconfig"},
    {kRuns, "git configuration", ".gitreview"},
    {kRuns, "git configuration", ".config/git/config"},
    {kRuns, "git directory link", ".git/commondir"},
    {kRuns, "git hook", ".github/hooks/x.json"},
    {kRuns, "open rebase, which can start programs; git checkout leaves it", ".git/rebase-merge/git-rebase-todo"},
    {kRuns, "open rebase, which can start programs; git checkout leaves it", ".git/modules/a/rebase-merge/done"},
    {kRuns, "git worktree, which leads into the sandbox; git worktree add makes one here", ".git/worktrees/x/gitdir"},
    {kRuns, "git worktree, which leads into the sandbox; git worktree add makes one here",
     ".git/modules/a/worktrees/x/gitdir"},
    {kRuns, "git hook configuration", ".huskyrc.js"},
    {kRuns, "git hook configuration", "husky.config.js"},
    {kRuns, "git hook configuration", "prek.toml"},
    {kRuns, "git hook configuration", "lefthook.toml"},
    {kRuns, "git hook configuration", "lefthook.json"},
    {kRuns, "git hook configuration", ".lefthook-local.json"},
    {kRuns, "git hook configuration", ".config/lefthook.yml"},
    {kRuns, "git hook configuration", "captainhook.json"},
    {kRuns, "git hook configuration", "lint-staged.config.mjs"},
    {kRuns, "git hook configuration", ".lintstagedrc.json"},
    {kRuns, "git hook configuration", ".simple-git-hooks.cjs"},
    {kRuns, "git hook configuration", "commitlint.config.js"},
    {kRuns, "Mercurial configuration", ".hg/hgrc"},
    {kRuns, "Mercurial configuration", ".config/hg/hgrc"},
    {kRuns, "Mercurial directory link", ".hg/sharedpath"},
    {kRuns, "Sapling configuration", ".sl/config"},
    {kRuns, "Sapling configuration", ".config/sapling/sapling.conf"},
    {kRuns, "Jujutsu configuration", ".jj/config.toml"},
    {kRuns, "Jujutsu configuration", ".jj/workspace-config.toml"},
    {kRuns, "Jujutsu configuration", ".jj/repo/config.toml"},
    {kRuns, "Jujutsu configuration", ".jj/repo/config-id"},
    {kRuns, "Jujutsu configuration", ".config/jj/config.toml"},
    {kRuns, "Pijul configuration", ".pijul/config"},
    {kRuns, "Pijul configuration", ".config/pijul/config.toml"},
    {kRuns, "Breezy configuration", ".bzr/branch/branch.conf"},
    {kRuns, "Perforce configuration", ".p4config"},
    {kRuns, "editor tasks", ".theia/tasks.json"},
    {kRuns, "editor tasks", "x.sublime-project"},
    {kRuns, "editor tasks", "x.code-workspace"},
    {kRuns, "editor tasks", ".externalToolBuilders/x.launch"},
    {kRuns, "editor tasks", ".kateproject"},
    {kRuns, "editor tasks", ".nlsp-settings/pyright.json"},
    {kRuns, "editor tasks", ".config/Code/User/settings.json"},
    {kRuns, "editor start-up file", ".lazy.lua"},
    {kRuns, "editor start-up file", ".dir-locals.el"},
    {kRuns, "editor start-up file", "_vimrc"},
    {kRuns, "editor start-up file", "_exrc"},
    {kRuns, "editor start-up file", ".lite_project.lua"},
    {kRuns, "editor start-up file", ".config/nvim/init.lua"},
    {kRuns, "agent configuration", ".claude/settings.json"},
    {kRuns, "agent configuration", ".kiro/hooks/x"},
    {kRuns, "agent configuration", ".opencode.json"},
    {kRuns, "agent configuration", ".aider.conf.yml"},
    {kRuns, "agent configuration", ".aider.model.settings.yml"},
    {kRuns, "agent configuration", ".amp/settings.json"},
    {kRuns, "agent configuration", ".ampcoderc"},
    {kRuns, "agent configuration", ".agent/rules/x.md"},
    {kRuns, "agent configuration", "conductor.json"},
    {kRuns, "agent configuration", "firebender.json"},
    {kRuns, "agent configuration", ".config/goose/config.yaml"},
    {kInstructs, "instructions for agents", "CLAUDE.md"},
    {kInstructs, "instructions for agents", "AGENTS.md"},
    {kInstructs, "instructions for agents", "GEMINI.md"},
    {kInstructs, "instructions for agents", "WARP.md"},
    {kInstructs, "instructions for agents", "CODEX.md"},
    {kInstructs, "instructions for agents", ".voidrules"},
    {kInstructs, "instructions for agents", ".cursorrules"},
    {kInstructs, "instructions for agents", ".windsurfrules"},
    {kInstructs, "instructions for agents", ".roomodes"},
    {kInstructs, "instructions for agents", ".goosehints"},
    {kInstructs, "instructions for agents", ".continuerules"},
    {kInstructs, "instructions for agents", ".github/copilot-instructions.md"},
    {kInstructs, "instructions for agents", ".github/instructions/x.md"},
    {kInstructs, "instructions for agents", ".aiassistant/rules/x.md"},
    {kRuns, "debugger start-up file", ".gdbinit"},
    {kRuns, "debugger start-up file", ".byebugrc"},
    {kRuns, "debugger start-up file", ".rdbgrc"},
    {kRuns, "interpreter start-up file", ".Rprofile"},
    {kRuns, "interpreter start-up file", ".pythonrc.py"},
    {kRuns, "interpreter start-up file", "usercustomize.py"},
    {kRuns, "interpreter start-up file", "jupyter_server_config.py"},
    {kRuns, "interpreter start-up file", "jupyter_config.json"},
    {kRuns, "interpreter start-up file", ".RData"},
    {kRuns, "interpreter start-up file", "startup.m"},
    {kRuns, "interpreter start-up file", ".sage/init.sage"},
    {kRuns, "interpreter start-up file", ".julia/config/startup.jl"},
    {kRuns, "interpreter start-up file", ".config/julia/startup.jl"},
    {kRuns, "interpreter start-up file", "env/lib/python3.11/site-packages/x.pth"},
    {kRuns, "interpreter start-up file", "lib/python3/dist-packages/x.pth"},
    {kRuns, "program of an environment that editors use", ".venv/bin/activate"},
    {kRuns, "program of an environment that editors use", "venv/Scripts/python.exe"},
    {kRuns, "tool configuration", ".curlrc"},
    {kRuns, "tool configuration", ".npmrc"},
    {kRuns, "tool configuration", ".config/gh/config.yml"},
    {kRuns, "tool configuration", ".proverc"},
    {kRuns, "tool configuration", ".tmuxinator.yml"},
    {kRuns, "tool configuration", "NuGet.Config"},
    {kRuns, "tool configuration", "pip.conf"},
    {kRuns, "tool configuration", ".config/pip/pip.conf"},
    {kRuns, "tool configuration", ".terraform/providers/x"},
    {kRuns, "tool configuration", ".yarn/releases/yarn.cjs"},
    {kRuns, "tool configuration", ".docker/cli-plugins/x"},
    {kRuns, "tool configuration", ".cargo/config.toml"},
    {kRuns, "tool configuration", ".mvn/extensions.xml"},
    {kRuns, "tool configuration", ".mvn/wrapper/maven-wrapper.properties"},
    {kRuns, "tool configuration", ".gradle/init.d/x.gradle"},
    {kRuns, "tool configuration", ".bundle/config"},
    {kRuns, "tool configuration", ".m2/settings.xml"},
    {kLogin, "keys and logins", ".git-credentials"},
    {kLogin, "keys and logins", ".pgpass"},
    {kLogin, "keys and logins", ".vault-token"},
    {kLogin, "keys and logins", ".s3cfg"},
    {kLogin, "keys and logins", ".aws/credentials"},
    {kLogin, "keys and logins", ".kube/config"},
    {kLogin, "keys and logins", ".cargo/credentials.toml"},
    {kLogin, "keys and logins", ".gem/credentials"},
    {kLogin, "keys and logins", ".config/gcloud/credentials.db"},
    {kLogin, "keys and logins", ".azure/accessTokens.json"},
    {kLogin, "keys and logins", ".terraform.d/credentials.tfrc.json"},
    {kLogin, "keys and logins", ".local/share/keyrings/login.keyring"},
});

std::string Lower(std::string_view text) {
  std::string lower(text);
  std::ranges::transform(lower, lower.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return lower;
}

std::string Upper(std::string_view text) {
  std::string upper(text);
  std::ranges::transform(upper, upper.begin(), [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return upper;
}

// Whether the row names a part of the path, or the path lies below that part.
bool Covers(const ProtectedRow& row, std::string_view path) {
  const std::string lower = Lower(path);
  for (std::size_t start = 0; start < lower.size();) {
    const std::size_t end = std::min(lower.find('/', start), lower.size());
    const std::string_view name = std::string_view(lower).substr(start, end - start);
    const std::string_view parent = std::string_view(lower).substr(0, start == 0 ? 0 : start - 1);
    const bool here = row.where.empty() || base::GlobMatch(row.where, parent);
    if (here && std::ranges::any_of(row.names, [&](const auto& one) { return base::GlobMatch(one, name); }))
      return true;
    start = end + 1;
  }
  return false;
}

std::vector<ProtectedRow> Rows() {
  auto rows = ParseProtectedRows(ProtectedRowsText());
  EXPECT_TRUE(rows) << rows.error().message;
  return rows.value_or(std::vector<ProtectedRow>());
}

// A path that the row is about.
std::string PlaceFor(const ProtectedRow& row, std::string_view name) {
  std::string place = row.where.empty() ? std::string() : row.where.substr(std::string_view("**/").size()) + "/";
  for (std::size_t stars = place.find("**"); stars != std::string::npos; stars = place.find("**"))
    place.replace(stars, 2, "x");
  place += name;
  std::ranges::replace(place, '*', 'x');
  return place;
}

TEST(ProtectedRowsTest, TheTableIsUnderstood) {
  EXPECT_GT(Rows().size(), 70U);
}

TEST(ProtectedRowsTest, EveryExampleIsJudgedByItsKind) {
  const ProtectedPaths paths;
  for (const Example& example : kExamples) {
    for (const std::string& path : {std::string(example.path), "nested/project/" + std::string(example.path),
                                    Upper(example.path), std::string(example.path) + "/below"}) {
      const PathVerdict verdict = paths.Judge(path, InGitDirectory::kNo);
      EXPECT_EQ(verdict.reason, example.reason) << path;
      EXPECT_EQ(verdict.kind, example.kind) << path;
    }
  }
}

TEST(ProtectedRowsTest, EveryRowHasAnExample) {
  for (const ProtectedRow& row : Rows()) {
    const bool has = std::ranges::any_of(kExamples, [&](const Example& example) {
      return example.kind == row.kind && example.reason == row.reason && Covers(row, example.path);
    });
    EXPECT_TRUE(has) << row.reason << ": " << row.where << " " << row.names.front();
  }
}

TEST(ProtectedRowsTest, EveryNameOfEveryRowIsJudged) {
  const ProtectedPaths paths;
  for (const ProtectedRow& row : Rows()) {
    for (const std::string& name : row.names) {
      const std::string place = PlaceFor(row, name);
      for (const std::string& path :
           {place, "a/b/" + place, Upper(place), place + "/c/d", place + ".", place + "::x"}) {
        const PathVerdict verdict = paths.Judge(path, InGitDirectory::kNo);
        EXPECT_TRUE(verdict.reason) << path;
        EXPECT_EQ(verdict.kind, row.kind) << path;
      }
      // A symbolic link may take the place of an instruction text, and of nothing else.
      EXPECT_EQ(paths.JudgeSymbolicLink(place, InGitDirectory::kNo).has_value(), row.kind != kInstructs) << place;
    }
    // Nor may a link take the place of a directory that a row is about.
    for (std::string where = PlaceFor(row, "x"); where.contains('/');) {
      where.resize(where.rfind('/'));
      EXPECT_TRUE(paths.JudgeSymbolicLink(where, InGitDirectory::kNo)) << where;
    }
  }
}

TEST(ProtectedRowsTest, WhatRunsBelowInstructionsRuns) {
  const ProtectedPaths paths;
  EXPECT_EQ(paths.Judge(".github/instructions/.vscode/tasks.json", InGitDirectory::kNo).kind, kRuns);
  EXPECT_EQ(paths.Judge(".claude/CLAUDE.md", InGitDirectory::kNo).kind, kRuns);
}

TEST(ProtectedRowsTest, LooksAlikeAndIsAnother) {
  const ProtectedPaths paths;
  for (const char* path : {"model.pth",
                           "weights/best.pth",
                           "lefthook",
                           "mise",
                           "mise/readme.md",
                           "misery.toml",
                           "bin/x",
                           "env/bin/python",
                           "venv/lib/x.py",
                           "instructions/x.md",
                           "docs/agents/x.md",
                           "agents",
                           "jupyter_config",
                           "config.toml",
                           "cargo/config.toml",
                           ".cargo/registry/x",
                           ".env.example",
                           "src/startup.py",
                           "codex/x.md",
                           "x.Rproj",
                           ".terraform/modules/x",
                           "env",
                           "credentials",
                           "x.sublime",
                           "environment.yml",
                           "claude.txt"})
    EXPECT_EQ(paths.Judge(path, InGitDirectory::kNo).reason, std::nullopt) << path;
}

TEST(ProtectedRowsTest, AnOrganisationAddsRows) {
  const std::vector<std::string> more = {"runs | anywhere | .Acme acme-*.yml | acme start-up file",
                                         "login | .acme2/keys | * | acme login",
                                         "runs | anywhere | agents.md | nobody writes these here"};
  const auto paths = ProtectedPaths::Make(more);
  ASSERT_TRUE(paths) << paths.error().message;
  EXPECT_EQ(paths->Judge("a/.acme/x", InGitDirectory::kNo).reason, "acme start-up file");
  EXPECT_EQ(paths->Judge("ACME-1.yml", InGitDirectory::kNo).reason, "acme start-up file");
  EXPECT_EQ(paths->Judge("a/.acme2/keys/x", InGitDirectory::kNo).kind, kLogin);
  EXPECT_EQ(paths->Judge("AGENTS.md", InGitDirectory::kNo).kind, kRuns) << "stronger than the built-in row";
  EXPECT_EQ(paths->Judge(".bashrc", InGitDirectory::kNo).reason, "shell start-up file");
  EXPECT_TRUE(paths->JudgeSymbolicLink(".acme2", InGitDirectory::kNo));
  EXPECT_EQ(ProtectedPaths().Judge("a/.acme/x", InGitDirectory::kNo).reason, std::nullopt);
}

TEST(ProtectedRowsTest, WhatIsNotUnderstoodIsRefused) {
  for (const char* row :
       {"", "runs", "runs | anywhere | x", "runs | anywhere | x | y | z", "walks | anywhere | x | y", "runs | | x | y",
        "runs | anywhere | | y", "runs | anywhere | x |", "runs | anywhere | * | everything",
        "runs | anywhere | a/b | y", "runs | anywhere | .. | y", "runs | a/../b | x | y", "runs | anywhere | [a | y"})
    EXPECT_FALSE(ParseProtectedRow(row)) << row;
  const auto paths = ProtectedPaths::Make(std::vector<std::string>{"runs | anywhere | x"});
  ASSERT_FALSE(paths);
  EXPECT_NE(paths.error().message.find("\"runs | anywhere | x\""), std::string::npos) << paths.error().message;
  EXPECT_NE(ParseProtectedRows("# fine\n\nwrong\n").error().message.find("line 3"), std::string::npos);
}

}  // namespace
}  // namespace skerry::policy
