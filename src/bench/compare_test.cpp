#include "bench/compare.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace skerry::bench {
namespace {

using std::chrono::microseconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

SubjectFigures Ours(double ratio) {
  return {.name = "skerry",
          .p50 = microseconds(static_cast<int>(ratio * 1000)),
          .n = 10,
          .ratio = ratio,
          .target = {.ratio = 0.1}};
}

SubjectFigures Bare() {
  return {.name = "bare", .p50 = microseconds(1000), .n = 10, .ratio = 1};
}

Report Of(std::vector<SubjectFigures> subjects) {
  return {.release = "1",
          .date = "d",
          .groups = {{.name = "python", .title = "", .baseline = "bare", .subjects = std::move(subjects)}}};
}

Verdict VerdictOf(const SubjectFigures& before, const SubjectFigures& after) {
  return Compare(Of({Bare(), before}), Of({Bare(), after})).changes.at(0).verdict;
}

TEST(CompareTest, AQuarterMoreIsWorseAndLessIsNot) {
  EXPECT_EQ(VerdictOf(Ours(0.08), Ours(0.0999)), Verdict::kSame);
  EXPECT_EQ(VerdictOf(Ours(0.08), Ours(0.1001)), Verdict::kWorse);
  EXPECT_EQ(VerdictOf(Ours(0.5), Ours(0.625)), Verdict::kWorse);
  EXPECT_EQ(VerdictOf(Ours(0.08), Ours(0.08)), Verdict::kSame);
  EXPECT_EQ(VerdictOf(Ours(0.08), Ours(0.02)), Verdict::kBetter);
}

TEST(CompareTest, ASlowerMachineWithTheSameRatioIsTheSame) {
  SubjectFigures slower = Ours(0.08);
  slower.p50 *= 10;
  EXPECT_EQ(VerdictOf(Ours(0.08), slower), Verdict::kSame);
}

TEST(CompareTest, OnlyTargetsAreJudged) {
  SubjectFigures bwrap{.name = "bwrap", .p50 = microseconds(1), .n = 1, .ratio = 1};
  Report before = Of({Bare(), bwrap});
  bwrap.ratio = 100;
  const Comparison comparison = Compare(before, Of({Bare(), bwrap}));
  EXPECT_THAT(comparison.changes, IsEmpty());
  EXPECT_FALSE(comparison.AnyWorse());
}

TEST(CompareTest, ASubjectThatFailsNowIsWorse) {
  SubjectFigures failed = Ours(0.08);
  failed.ratio.reset();
  failed.failed = "exited with 1";
  EXPECT_EQ(VerdictOf(Ours(0.08), failed), Verdict::kWorse);
  EXPECT_EQ(VerdictOf(failed, failed), Verdict::kSame);
  EXPECT_EQ(VerdictOf(failed, Ours(0.08)), Verdict::kUnknown);
}

TEST(CompareTest, AMissingBaselineIsNamedAndNotGuessed) {
  SubjectFigures alone = Ours(0.08);
  alone.ratio.reset();
  const Change change = Compare(Of({Bare(), Ours(0.08)}), Of({alone})).changes.at(0);
  EXPECT_EQ(change.verdict, Verdict::kUnknown);
  EXPECT_EQ(change.note, "after: its baseline 'bare' was not measured");
}

TEST(CompareTest, ADifferentBaselineIsNotCompared) {
  Report after = Of({Bare(), Ours(0.9)});
  after.groups[0].baseline = "bwrap";
  const Change change = Compare(Of({Bare(), Ours(0.08)}), after).changes.at(0);
  EXPECT_EQ(change.verdict, Verdict::kUnknown);
  EXPECT_EQ(change.note, "divided by 'bare' before and by 'bwrap' now");
}

TEST(CompareTest, SubjectsOfOneSideOnlyAreNamed) {
  const Comparison gone = Compare(Of({Bare(), Ours(0.08)}), Of({}));
  ASSERT_EQ(gone.changes.size(), 1U);
  EXPECT_EQ(gone.changes[0].note, "not in the newer result");
  EXPECT_THAT(gone.remarks, ElementsAre("python bare: only in the older result"));
  const Comparison fresh = Compare(Of({}), Of({Bare(), Ours(0.08)}));
  EXPECT_EQ(fresh.changes[0].note, "not in the older result");
  EXPECT_FALSE(fresh.AnyWorse());
}

TEST(CompareTest, GroupsOfOneSideOnlyAreNamed) {
  const Comparison gone = Compare(Of({Bare(), Ours(0.08)}), {});
  ASSERT_EQ(gone.changes.size(), 1U);
  EXPECT_EQ(gone.changes[0].group, "python");
  EXPECT_EQ(Compare({}, Of({Ours(0.08)})).changes.at(0).note, "not in the older result");
}

TEST(CompareTest, DifferentMachinesAreRemarked) {
  Report after = Of({});
  after.machine.cpus = 64;
  EXPECT_THAT(Compare(Of({}), after).remarks, ElementsAre(HasSubstr("different machines")));
  EXPECT_THAT(Compare(Of({}), Of({})).remarks, IsEmpty());
}

TEST(CompareTest, TheTextShowsBothRatiosAndMarksTheWorse) {
  const std::string text = ToTable(Compare(Of({Bare(), Ours(0.02)}), Of({Bare(), Ours(0.2)})));
  EXPECT_THAT(text, HasSubstr("0.0200"));
  EXPECT_THAT(text, HasSubstr("0.200"));
  EXPECT_THAT(text, HasSubstr("WORSE"));
  EXPECT_THAT(ToTable(Compare(Of({}), Of({}))), HasSubstr("Nothing got worse"));
}

TEST(CompareTest, TheJsonSaysTheSame) {
  const auto object = nlohmann::json::parse(ToJson(Compare(Of({Bare(), Ours(0.02)}), Of({Bare(), Ours(0.2)}))));
  EXPECT_EQ(object["worse"], true);
  EXPECT_EQ(object["changes"][0]["verdict"], "worse");
  EXPECT_EQ(object["changes"][0]["ratio_before"], 0.02);
  EXPECT_EQ(object["changes"][0]["ratio_after"], 0.2);
}

}  // namespace
}  // namespace skerry::bench
