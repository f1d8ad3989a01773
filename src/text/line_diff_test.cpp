#include "text/line_diff.hpp"

#include <algorithm>
#include <random>
#include <string>

#include <gtest/gtest.h>

namespace skerry::text {
namespace {

using Lines = std::vector<std::string_view>;
constexpr std::size_t kEnough = 1'000'000;

Lines Letters(std::string_view letters) {
  Lines lines;
  for (std::size_t i = 0; i < letters.size(); ++i) lines.push_back(letters.substr(i, 1));
  return lines;
}

// Also checks that the lines between the runs are the same on both sides.
std::string Applied(const Lines& before, const Lines& after, const std::vector<ChangedRun>& runs) {
  std::string result;
  std::size_t at = 0;
  for (const ChangedRun& run : runs) {
    EXPECT_TRUE(run.before >= at && run.before_count + run.after_count > 0);
    EXPECT_TRUE(at == 0 || run.before > at) << "runs that touch each other";
    for (; at < run.before; ++at) result += before[at];
    at += run.before_count;
    for (std::size_t i = 0; i < run.after_count; ++i) result += after[run.after + i];
  }
  for (; at < before.size(); ++at) result += before[at];
  return result;
}

std::size_t CommonLines(const Lines& before, const Lines& after) {
  std::vector<std::vector<std::size_t>> table(before.size() + 1, std::vector<std::size_t>(after.size() + 1));
  for (std::size_t i = 0; i < before.size(); ++i) {
    for (std::size_t j = 0; j < after.size(); ++j) {
      table[i + 1][j + 1] = before[i] == after[j] ? table[i][j] + 1 : std::max(table[i][j + 1], table[i + 1][j]);
    }
  }
  return table[before.size()][after.size()];
}

std::string RandomLetters(std::mt19937& random, std::size_t max_size, unsigned kinds) {
  std::string letters;
  for (std::size_t i = random() % (max_size + 1); i > 0; --i) letters += static_cast<char>('a' + random() % kinds);
  return letters;
}

TEST(LineDiffTest, NothingDiffersBetweenEquals) {
  EXPECT_TRUE(DiffLines({}, {}, kEnough).empty());
  EXPECT_TRUE(DiffLines(Letters("abc"), Letters("abc"), kEnough).empty());
}

TEST(LineDiffTest, AnEmptySideIsOneRun) {
  EXPECT_EQ(DiffLines({}, Letters("ab"), kEnough), (std::vector<ChangedRun>{{0, 0, 0, 2}}));
  EXPECT_EQ(DiffLines(Letters("ab"), {}, kEnough), (std::vector<ChangedRun>{{0, 2, 0, 0}}));
}

TEST(LineDiffTest, AnInsertionStandsAtTheLastPlaceWhereItCan) {
  EXPECT_EQ(DiffLines({"f {", "}", "end"}, {"f {", "}", "g {", "}", "end"}, kEnough),
            (std::vector<ChangedRun>{{2, 0, 2, 2}}));
  EXPECT_EQ(DiffLines(Letters("aab"), Letters("aaaab"), kEnough), (std::vector<ChangedRun>{{2, 0, 2, 2}}));
  EXPECT_EQ(DiffLines(Letters("bba"), Letters("acbaa"), kEnough),
            (std::vector<ChangedRun>{{0, 1, 0, 2}, {3, 0, 4, 1}}));
}

TEST(LineDiffTest, RunsThatComeToTouchEachOtherAreOne) {
  EXPECT_EQ(DiffLines(Letters("baaacba"), Letters("cbaab"), kEnough),
            (std::vector<ChangedRun>{{0, 0, 0, 1}, {3, 2, 4, 0}, {6, 1, 5, 0}}));
}

TEST(LineDiffTest, TheRunsMakeTheOtherSideAndAreTheFewest) {
  std::mt19937 random(1);
  for (int round = 0; round < 20'000; ++round) {
    const unsigned kinds = 1 + random() % 6;
    const std::string before = RandomLetters(random, 24, kinds);
    const std::string after = RandomLetters(random, 24, kinds + random() % 2);
    const Lines old_lines = Letters(before);
    const Lines new_lines = Letters(after);
    const auto runs = DiffLines(old_lines, new_lines, kEnough);
    ASSERT_EQ(Applied(old_lines, new_lines, runs), after) << before;
    std::size_t removed = 0;
    for (const ChangedRun& run : runs) removed += run.before_count;
    ASSERT_EQ(before.size() - removed, CommonLines(old_lines, new_lines)) << before << " " << after;
  }
}

TEST(LineDiffTest, WithoutWorkLeftTheRunsAreLongerAndStillRight) {
  std::mt19937 random(2);
  for (int round = 0; round < 5000; ++round) {
    const std::string before = RandomLetters(random, 60, 4);
    const std::string after = RandomLetters(random, 60, 4);
    const auto runs = DiffLines(Letters(before), Letters(after), random() % 200);
    ASSERT_EQ(Applied(Letters(before), Letters(after), runs), after);
  }
  EXPECT_EQ(DiffLines(Letters("xabcdy"), Letters("xdcbay"), 0), (std::vector<ChangedRun>{{1, 4, 1, 4}}));
}

TEST(LineDiffTest, LinesThatOneSideOnlyHasCostNoWork) {
  std::vector<std::string> texts;
  texts.reserve(20'000);
  for (int i = 0; i < 20'000; ++i) texts.push_back(std::to_string(i));
  const Lines before(texts.begin(), texts.begin() + 10'000);
  const Lines after(texts.begin() + 10'000, texts.end());
  EXPECT_EQ(DiffLines(before, after, 1), (std::vector<ChangedRun>{{0, 10'000, 0, 10'000}}));
}

}  // namespace
}  // namespace skerry::text
