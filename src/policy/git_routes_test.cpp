#include "policy/git_routes.hpp"

#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace skerry::policy {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr std::string_view kOwn =
    "[core]\nbare = false\n"
    "[remote \"origin\"]\nurl = https://example.org/a.git\nfetch = +refs/heads/*:refs/remotes/origin/*\n"
    "[remote \"fork\"]\nurl = https://example.org/fork.git\npushurl = ssh://example.org/fork.git\n"
    "[branch \"main\"]\nremote = origin\nmerge = refs/heads/main\n"
    "[branch \"mine\"]\nremote = origin\npushRemote = fork\nmerge = refs/heads/mine\n"
    "[url \"https://mirror.example/\"]\ninsteadOf = https://example.org/\n"
    "[include]\npath = ../extra\n"
    "[submodule \"lib\"]\nurl = https://example.org/lib.git\n";

std::vector<std::string> Keys(const std::string& text, ConfigPart part = ConfigPart::kWhole) {
  return RedirectingKeys(text, kOwn, part);
}
std::vector<std::string> With(std::string_view more) {
  return Keys(std::string(kOwn) + std::string(more));
}
std::string Replaced(std::string_view what, std::string_view by) {
  std::string text(kOwn);
  return text.replace(text.find(what), what.size(), by);
}

TEST(GitRoutesTest, WhatIsAboutSomethingElseLeadsNowhere) {
  EXPECT_THAT(With(""), IsEmpty());
  EXPECT_THAT(With("[user]\nname = a\n[core]\nautocrlf = true\n[push]\nautoSetupRemote = true\n"), IsEmpty());
  EXPECT_THAT(With("[remote \"origin\"]\nprune = true\ntagOpt = --no-tags\n[branch \"main\"]\nrebase = true\n"),
              IsEmpty());
}

TEST(GitRoutesTest, ABranchMayFollowWhereGitWouldGoAnyway) {
  EXPECT_THAT(With("[branch \"new\"]\nremote = origin\nmerge = refs/heads/new\n"), IsEmpty());
  EXPECT_THAT(With("[branch \"local\"]\nremote = .\nmerge = refs/heads/main\n"), IsEmpty());
  EXPECT_THAT(Keys(Replaced("[branch \"main\"]\nremote = origin\nmerge = refs/heads/main\n", "")), IsEmpty())
      << "a branch that went";
  EXPECT_THAT(Keys(Replaced("[branch \"main\"]", "[branch \"trunk\"]")), IsEmpty()) << "one that was renamed";
  // A single remote is the usual one, whatever its name.
  constexpr std::string_view kOne = "[remote \"up\"]\nurl = https://example.org/a.git\n";
  EXPECT_THAT(RedirectingKeys(std::string(kOne) + "[branch \"new\"]\nremote = up\n", kOne, ConfigPart::kWhole),
              IsEmpty());
}

TEST(GitRoutesTest, NamesEveryKeyThatLeadsElsewhere) {
  EXPECT_THAT(Keys(Replaced("https://example.org/a.git", "https://evil.example/a.git")),
              ElementsAre("remote.origin.url"));
  EXPECT_THAT(With("[remote \"origin\"]\nurl = https://evil.example/\n"), ElementsAre("remote.origin.url"));
  EXPECT_THAT(With("[REMOTE \"origin\"]\nPushURL = https://evil.example/\n"), ElementsAre("remote.origin.pushurl"));
  EXPECT_THAT(With("[remote \"origin\"]\npush = +refs/heads/*:refs/heads/*\n"), ElementsAre("remote.origin.push"));
  EXPECT_THAT(With("[remote \"origin\"]\nfetch = +refs/heads/*:refs/heads/*\n"), ElementsAre("remote.origin.fetch"));
  EXPECT_THAT(With("[remote \"origin\"]\nmirror = true\n"), ElementsAre("remote.origin.mirror"));
  EXPECT_THAT(With("[remote \"origin\"]\npromisor = true\n"), ElementsAre("remote.origin.promisor"));
  EXPECT_THAT(With("[remote \"fork\"]\ngh-resolved = base\n"), ElementsAre("remote.fork.gh-resolved"));
  EXPECT_THAT(With("[remote \"evil\"]\nurl = https://evil.example/\n"), ElementsAre("remote.evil.url"));
  EXPECT_THAT(With("[remote]\npushDefault = fork\n"), Contains("remote.pushdefault"));
  EXPECT_THAT(With("[remote]\npushDefault = https://evil.example/\n"), Contains("remote.pushdefault"));
  EXPECT_THAT(With("[branch \"main\"]\nremote = fork\n"), ElementsAre("branch.main.remote"));
  EXPECT_THAT(With("[branch \"main\"]\npushRemote = fork\n"), ElementsAre("branch.main.pushremote"));
  EXPECT_THAT(With("[branch \"main\"]\nmerge = refs/heads/release\n"), ElementsAre("branch.main.merge"));
  EXPECT_THAT(With("[branch \"new\"]\nremote = https://evil.example/\n"), ElementsAre("branch.new.remote"));
  EXPECT_THAT(With("[extensions]\npartialClone = fork\n"), ElementsAre("extensions.partialclone"));
  EXPECT_THAT(With("[url \"https://evil.example/\"]\npushInsteadOf = https://example.org/\n"),
              ElementsAre("url.https://evil.example/.pushinsteadof"));
  EXPECT_THAT(With("[includeIf \"gitdir:**\"]\npath = ../evil\n"), ElementsAre("includeif.gitdir:**.path"));
  EXPECT_THAT(Keys(Replaced("example.org/lib", "evil.example/lib")), ElementsAre("submodule.lib.url"));
  EXPECT_THAT(With("[remotes]\ndefault = fork\n"), ElementsAre("remotes.default"));
}

TEST(GitRoutesTest, WhatIsTakenAwayCanLeadElsewhereToo) {
  EXPECT_THAT(Keys(Replaced("pushurl = ssh://example.org/fork.git\n", "")), ElementsAre("remote.fork.pushurl"));
  EXPECT_THAT(Keys(Replaced("pushRemote = fork\n", "")), ElementsAre("branch.mine.pushremote"));
  EXPECT_THAT(Keys(Replaced("insteadOf = https://example.org/\n", "")),
              ElementsAre("url.https://mirror.example/.insteadof"));
  EXPECT_THAT(Keys(Replaced("[include]\npath = ../extra\n", "")), ElementsAre("include.path"));
}

TEST(GitRoutesTest, BesideTheWholeEveryValueCounts) {
  EXPECT_THAT(RedirectingKeys("[branch \"new\"]\nremote = origin\n", "", ConfigPart::kBeside),
              ElementsAre("branch.new.remote"));
  EXPECT_THAT(RedirectingKeys("", "[remote]\npushDefault = fork\n", ConfigPart::kBeside),
              ElementsAre("remote.pushdefault"));
  EXPECT_THAT(RedirectingKeys("[user]\nname = a\n", "", ConfigPart::kBeside), IsEmpty());
}

TEST(GitRoutesTest, WhatIsNotUnderstoodExcusesNothing) {
  EXPECT_THAT(Keys("[broken"), ElementsAre("(not understood)"));
  EXPECT_THAT(RedirectingKeys("[broken", "[broken", ConfigPart::kWhole), IsEmpty());
  EXPECT_THAT(RedirectingKeys("[remote \"a\"]\nurl = x\n", "[remote \"a\"]\nurl = x\n[broken", ConfigPart::kWhole),
              ElementsAre("remote.a.url"));
}

}  // namespace
}  // namespace skerry::policy
