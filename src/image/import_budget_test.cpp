#include "image/import_budget.hpp"

#include <limits>

#include <gtest/gtest.h>

#include "archive/error_of.hpp"

namespace skerry::image {
namespace {

using archive::CodeOf;

class Recorder : public ProgressSink {
 public:
  ProgressAnswer Report(const Progress& progress) override {
    last = progress;
    return answer;
  }
  Progress last;
  ProgressAnswer answer = ProgressAnswer::kGoOn;
};

TEST(ImportBudgetTest, GivesWhatItHasAndNoMore) {
  ImportBudget budget({.max_bytes = 10, .max_entries = 2}, nullptr);
  EXPECT_TRUE(budget.TakeBytes(7).has_value());
  EXPECT_TRUE(budget.TakeBytes(3).has_value());
  EXPECT_EQ(CodeOf(budget.TakeBytes(1)), base::Code::kTooLarge);
  EXPECT_TRUE(budget.TakeEntry().has_value());
  EXPECT_TRUE(budget.TakeEntry().has_value());
  EXPECT_EQ(CodeOf(budget.TakeEntry()), base::Code::kTooLarge);
}

TEST(ImportBudgetTest, NoSumIsTooLargeToCount) {
  ImportBudget budget({}, nullptr);
  ASSERT_TRUE(budget.TakeBytes(1).has_value());
  EXPECT_FALSE(budget.TakeBytes(std::numeric_limits<std::uint64_t>::max()).has_value());
}

TEST(ImportBudgetTest, TheSinkSeesProgressAndMayStopIt) {
  Recorder sink;
  ImportBudget budget({}, &sink);
  ASSERT_TRUE(budget.TakeBytes(5).has_value());
  ASSERT_TRUE(budget.TakeEntry().has_value());
  EXPECT_EQ(sink.last.bytes, 5U);
  EXPECT_EQ(sink.last.entries, 1U);
  sink.answer = ProgressAnswer::kStop;
  EXPECT_EQ(CodeOf(budget.TakeBytes(1)), base::Code::kRejected);
}

TEST(ImportBudgetTest, LookingIsLimitedTooButIsNoProgress) {
  Recorder sink;
  ImportBudget budget({.max_bytes = 10}, &sink);
  ASSERT_TRUE(budget.TakeBytes(4).has_value());
  ImportBudget looking = budget.ForLooking();
  EXPECT_TRUE(looking.TakeBytes(6).has_value());
  EXPECT_EQ(sink.last.bytes, 4U);
  EXPECT_FALSE(looking.TakeBytes(1).has_value());
  EXPECT_TRUE(budget.TakeBytes(6).has_value());
}

}  // namespace
}  // namespace skerry::image
