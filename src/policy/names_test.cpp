#include "policy/names.hpp"

#include <array>

#include <gtest/gtest.h>

namespace skerry::policy {
namespace {

using enum core::RiskLevel;

constexpr std::array kRows = {
    NameRow{When::kUsed, "os.system  os.popen", {"test.system", kCritical, "Runs a command."}},
    NameRow{When::kImported, "os", {"test.import", kHigh, "Imports it."}},
    NameRow{When::kUsed, "proc.*", {"test.any", kHigh, "Anything of it."}},
    NameRow{When::kRunsShell, "proc.run", {}},
    NameRow{When::kHarmless, "io.StringIO.()", {}},
    NameRow{When::kSameAs, "alias.deep", {.id = "os.system"}},
    NameRow{When::kMethod, "write", {"test.write", kHigh, "Writes."}},
    NameRow{When::kFunction, "popen", {"test.popen", kCritical, "Starts."}},
    NameRow{When::kMember, "__globals__", {"test.member", kCritical, "Reaches."}},
};

class NamesTest : public ::testing::Test {
 protected:
  [[nodiscard]] NameId Path(std::string_view root, std::string_view member) const {
    return names_.Member(names_.Root(root), member);
  }
  Names names_{kRows};
};

TEST_F(NamesTest, EachPathOfARowHasItsRule) {
  for (const std::string_view member : {"system", "popen"}) {
    const Rule* rule = names_.RuleFor(Path("os", member), When::kUsed);
    ASSERT_NE(rule, nullptr);
    EXPECT_EQ(rule->id, "test.system");
  }
}

TEST_F(NamesTest, WhatIsNotInTheTableIsNoName) {
  EXPECT_EQ(names_.Root("json"), kNoName);
  EXPECT_EQ(Path("os", "getcwd"), kNoName);
  EXPECT_EQ(names_.RuleFor(kNoName, When::kUsed), nullptr);
}

TEST_F(NamesTest, ARuleHoldsOnlyForItsKindOfUse) {
  EXPECT_EQ(names_.RuleFor(Path("os", "system"), When::kImported), nullptr);
  EXPECT_NE(names_.RuleFor(names_.Root("os"), When::kImported), nullptr);
  EXPECT_FALSE(names_.Has(names_.Root("os"), When::kUsed));
}

TEST_F(NamesTest, AStarIsEveryMember) {
  EXPECT_NE(names_.RuleFor(Path("proc", "whatever"), When::kUsed), nullptr);
  EXPECT_EQ(names_.Root("proc.whatever"), kNoName);
}

TEST_F(NamesTest, AMemberWithARowOfItsOwnBreaksTheRuleOfTheStarToo) {
  const NameId run = Path("proc", "run");
  EXPECT_TRUE(names_.Has(run, When::kRunsShell));
  EXPECT_NE(names_.RuleFor(run, When::kUsed), nullptr);
}

TEST_F(NamesTest, WhatACallGivesIsNoMemberOfAStar) {
  EXPECT_EQ(Path("proc", "()"), kNoName);
  EXPECT_TRUE(names_.Has(names_.Member(Path("io", "StringIO"), "()"), When::kHarmless));
}

TEST_F(NamesTest, AnotherPathForANameIsThatName) {
  EXPECT_EQ(Path("alias", "deep"), Path("os", "system"));
}

TEST_F(NamesTest, WordsAreKeptByTheirKindOfUse) {
  EXPECT_NE(names_.RuleForWord("write", When::kMethod), nullptr);
  EXPECT_EQ(names_.RuleForWord("write", When::kFunction), nullptr);
  EXPECT_NE(names_.RuleForWord("popen", When::kFunction), nullptr);
  EXPECT_NE(names_.RuleForWord("__globals__", When::kMember), nullptr);
  EXPECT_EQ(names_.Root("write"), kNoName);
}

TEST_F(NamesTest, WhatHasAGraveMemberHoldsIt) {
  for (const std::string_view root : {"os", "proc", "alias"}) EXPECT_TRUE(names_.HoldsGrave(names_.Root(root))) << root;
  EXPECT_FALSE(names_.HoldsGrave(names_.Root("io")));
  EXPECT_FALSE(names_.HoldsGrave(Path("os", "system")));
}

}  // namespace
}  // namespace skerry::policy
