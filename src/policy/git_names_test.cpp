#include "policy/git_names.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace skerry::policy {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;

std::vector<std::string> Programs(const std::string& text) {
  std::vector<std::string> words;
  for (const CommandWord& word : NamesInGitConfig(text)->programs) words.push_back(word.text);
  return words;
}

TEST(GitNamesTest, HooksAndIncludedFiles) {
  const auto names = NamesInGitConfig(
      "[core]\nhooksPath = /a/ci\n[include]\npath = ../x\n[includeIf \"gitdir:~/w/\"]\npath = ~/y\n"
      "[init]\ntemplateDir = t\n");
  ASSERT_TRUE(names);
  EXPECT_THAT(names->hooks, ElementsAre("/a/ci", "t/hooks"));
  EXPECT_THAT(names->included, ElementsAre("../x", "~/y"));
  EXPECT_THAT(names->programs, IsEmpty());
}

TEST(GitNamesTest, EveryKeyThatIsNotKnownToStartNothingNamesPrograms) {
  for (const char* key : {"core.fsmonitor", "core.sshCommand", "core.editor", "core.pager", "core.askPass",
                          "sequence.editor", "gpg.program", "credential.helper", "alias.x", "what.ever"}) {
    const std::string all(key);
    const std::size_t dot = all.find('.');
    const std::string text = "[" + all.substr(0, dot) + "]\n" + all.substr(dot + 1) + " = tools/run.sh\n";
    EXPECT_THAT(Programs(text), Contains("tools/run.sh")) << key;
  }
  for (const char* key : {"filter \"a\"]\nclean", "diff \"a\"]\ntextconv", "diff \"a\"]\ncommand",
                          "merge \"a\"]\ndriver", "hook \"a\"]\ncommand", "credential \"https://a\"]\nhelper"})
    EXPECT_THAT(Programs("[" + std::string(key) + " = tools/run.sh %f\n"), Contains("tools/run.sh")) << key;
}

TEST(GitNamesTest, WhatIsOnlyReadNamesNone) {
  EXPECT_THAT(Programs("[blame]\nignoreRevsFile = .git-blame-ignore-revs\n[commit]\ntemplate = .gitmessage\n"
                       "[core]\nworktree = ../../x\n[user]\nname = a/b\n[remote \"o\"]\nurl = ../x\n"),
              IsEmpty());
}

TEST(GitNamesTest, WordsAreFoundInsideACommand) {
  const std::string text =
      "[filter \"a\"]\nclean = \"sh -c 'cd x && \\\"$PWD/tools/one\\\"'; python3 two.py --with=three/four\"\n"
      "smudge = $(git rev-parse --show-toplevel)/tools/five\n";
  for (const char* word : {"/tools/one", "two.py", "three/four", "/tools/five", "x"})
    EXPECT_THAT(Programs(text), Contains(word)) << word;
}

TEST(GitNamesTest, AnAliasOfGitsOwnCommandsNamesPathsOnly) {
  EXPECT_THAT(Programs("[alias]\nl = log --graph\n"), IsEmpty());
  EXPECT_THAT(Programs("[alias]\nl = !run\n"), Contains("run"));
  EXPECT_THAT(Programs("[alias]\nl = -c core.fsmonitor=tools/x status\n"), Contains("tools/x"));
}

TEST(GitNamesTest, LongLinesAreRead) {
  const auto names = NamesInGitConfig("[alias]\nl = log " + std::string(3000, 'x') + "\n[core]\nhooksPath = ci\n");
  ASSERT_TRUE(names);
  EXPECT_THAT(names->hooks, ElementsAre("ci"));
  EXPECT_FALSE(NamesInGitConfig("[core\nhooksPath = ci\n"));
}

}  // namespace
}  // namespace skerry::policy
