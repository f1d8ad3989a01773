#include <gtest/gtest.h>

#include "core/execution.hpp"

namespace skerry::core {
namespace {

ExecutionResult ManyFiles(std::size_t count, std::size_t length) {
  ExecutionResult result{.execution_id = "x1", .standard_output = "written"};
  for (std::size_t i = 0; i < count; ++i) result.files_created.push_back(std::to_string(i) + std::string(length, 'n'));
  return result;
}

std::size_t SizeOf(const std::vector<std::string>& texts) {
  std::size_t size = 0;
  for (const std::string& text : texts) size += text.size();
  return size;
}

TEST(SummaryTest, IsShortWhateverRan) {
  auto result = ManyFiles(9000, 3000);
  result.diff = std::string(1 << 20U, 'd');
  result.degraded = std::vector<std::string>(1000, std::string(10'000, 'g'));
  result.outcome = {.kind = OutcomeKind::kRejected, .reason = std::string(1 << 20U, 'r')};
  result.cell = {.error = CellError{.traceback = std::string(1 << 20U, 't')}};
  result.cell->outputs = std::vector<CellOutput>(100, {.forms = {{"text/plain", std::string(100'000, 'o')}}});
  const ExecutionResult summary = SummaryOf(result);
  EXPECT_EQ(summary.standard_output, "");
  EXPECT_EQ(summary.diff, "");
  EXPECT_LT(SizeOf(summary.files_created) + SizeOf(summary.degraded), 50'000U);
  EXPECT_LT(summary.outcome.reason.size(), 2100U);
  EXPECT_LT(summary.cell->error->traceback.size(), 2100U);
  EXPECT_TRUE(summary.cell->outputs.empty());
  EXPECT_EQ(summary.cell->outputs_left_out, 100U);
}

TEST(SummaryTest, NamesTheFirstFilesAndCountsAll) {
  const ExecutionResult summary = SummaryOf(ManyFiles(100, 5));
  EXPECT_EQ(summary.execution_id, "x1");
  EXPECT_EQ(summary.files_created.size(), 10U);
  EXPECT_EQ(summary.files_total->created, 100U);
  EXPECT_EQ(summary.files_total->deleted, 0U);
}

TEST(SummaryTest, OfAKeptResultCountsWhatTheProgramMade) {
  ExecutionResult result;
  for (int i = 0; i < 5000; ++i)
    result.files_to_review.push_back({std::to_string(i) + std::string(100, 'd') + "/AGENTS.md", "agents follow it"});
  Shorten(result, kKeptLists);
  EXPECT_EQ(result.files_to_review.size(), kKeptLists.names);
  EXPECT_EQ(result.files_total->to_review, 5000U);
  const ExecutionResult summary = SummaryOf(result);
  EXPECT_LE(summary.files_to_review.size(), 10U);
  EXPECT_EQ(summary.files_total->to_review, 5000U);
  EXPECT_EQ(summary.files_total->withheld, 0U);
}

TEST(SummaryTest, OfLittleIsAllButWhatWasWritten) {
  ExecutionResult whole = ManyFiles(3, 5);
  const ExecutionResult summary = SummaryOf(whole);
  whole.standard_output.clear();
  EXPECT_EQ(summary, whole);
}

TEST(ShortenTest, NamesFilesUpToABoundAndCountsAll) {
  ExecutionResult many = ManyFiles(5000, 5);
  Shorten(many, kKeptLists);
  EXPECT_EQ(many.files_created.size(), kKeptLists.names);
  EXPECT_EQ(many.files_total->created, 5000U);
  ExecutionResult longer = ManyFiles(9000, 3000);
  Shorten(longer, kKeptLists);
  EXPECT_LE(SizeOf(longer.files_created), kKeptLists.bytes);
  ExecutionResult few = ManyFiles(5, 5);
  Shorten(few, kKeptLists);
  EXPECT_FALSE(few.files_total.has_value());
}

}  // namespace
}  // namespace skerry::core
