#include "cli/progress.hpp"

#include <unistd.h>

#include <future>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.hpp"

namespace skerry::cli {
namespace {

using std::chrono::milliseconds;
using testing::ElementsAre;
using testing::IsEmpty;

// A terminal that keeps what is written, and a clock that is moved by hand.
class ProgressTest : public testing::Test {
 protected:
  ProgressScreen Screen(unsigned width = 80) {
    return {.write = [this](std::string_view text) { written_.emplace_back(text); },
            .now = [this] { return now_; },
            .width = width};
  }
  std::vector<std::string> written_;
  ProgressTime now_{std::chrono::hours(1)};
};

TEST_F(ProgressTest, WhatIsQuickShowsNothing) {
  {
    ProgressLine line("sent", 100, Screen());
    now_ += milliseconds(499);
    line.Add(100);
  }
  EXPECT_THAT(written_, IsEmpty());
}

TEST_F(ProgressTest, TheLineIsRewrittenAndWipedAtTheEnd) {
  {
    ProgressLine line("sent", 40'000'000, Screen());
    now_ += milliseconds(500);
    line.Add(10'000'000);
    now_ += milliseconds(500);
    line.Add(10'000'000);
  }
  EXPECT_THAT(written_, ElementsAre("\r\x1b[Kskerry: sent 10.0 MB of 40.0 MB, 25 %, 20.0 MB/s",
                                    "\r\x1b[Kskerry: sent 20.0 MB of 40.0 MB, 50 %, 20.0 MB/s", "\r\x1b[K"));
}

TEST_F(ProgressTest, ItIsWrittenTenTimesASecondAtMost) {
  ProgressLine line("sent", std::nullopt, Screen());
  now_ += milliseconds(500);
  for (int i = 0; i < 1000; ++i, now_ += milliseconds(1)) line.Add(1);
  EXPECT_EQ(written_.size(), 10U);
}

TEST_F(ProgressTest, WithoutASizeThereIsNoPercentage) {
  EXPECT_EQ(ProgressText("sent", {.bytes = 1'500'000, .elapsed = std::chrono::seconds(1)}), "sent 1.5 MB, 1.5 MB/s");
}

TEST_F(ProgressTest, AFileThatGrewIsNotBeyondItsEnd) {
  EXPECT_EQ(ProgressText("sent", {.bytes = 3'000'000, .size = 2'000'000, .elapsed = std::chrono::seconds(1)}),
            "sent 3.0 MB of 2.0 MB, 100 %, 3.0 MB/s");
}

TEST_F(ProgressTest, AnEmptyFileHasNoPercentage) {
  EXPECT_EQ(ProgressText("sent", {.bytes = 0, .size = 0, .elapsed = std::chrono::seconds(1)}), "sent 0.0 MB, 0.0 MB/s");
}

TEST_F(ProgressTest, MoreMayStandBehindTheBytes) {
  ProgressLine line("imported", std::nullopt, Screen());
  now_ += milliseconds(1000);
  line.Reach(2'000'000, ", 7 files");
  EXPECT_THAT(written_, ElementsAre("\r\x1b[Kskerry: imported 2.0 MB, 7 files, 2.0 MB/s"));
}

TEST_F(ProgressTest, TheLineNeverReachesTheLastColumn) {
  StatusLine line(Screen(12));
  now_ += milliseconds(500);
  line.Show("sent 10.0 MB");
  EXPECT_THAT(written_, ElementsAre("\r\x1b[Kskerry: sen"));
}

TEST_F(ProgressTest, LettersOfSeveralBytesAreCutWhole) {
  StatusLine line(Screen(11));
  now_ += milliseconds(500);
  line.Show("ééé");
  EXPECT_THAT(written_, ElementsAre("\r\x1b[Kskerry: éé"));
}

TEST_F(ProgressTest, WhereNothingIsShownNothingIsDue) {
  StatusLine line({.write = {}, .now = [this] { return now_; }});
  now_ += std::chrono::hours(1);
  EXPECT_FALSE(line.IsDue());
  line.Show("x");  // works without a screen
}

TEST_F(ProgressTest, CountedBytesAreTheSameBytes) {
  ProgressLine line("sent", 6, Screen());
  std::vector<std::string> blocks = {"", "def", "abc"};
  const Feed counted = Counted(
      [&]() -> base::Result<std::string> {
        std::string block = blocks.back();
        blocks.pop_back();
        return block;
      },
      line);
  EXPECT_EQ(counted(), "abc");
  EXPECT_EQ(counted(), "def");
  EXPECT_EQ(counted(), "");
}

TEST_F(ProgressTest, AnErrorOfTheFeedIsPassedOn) {
  ProgressLine line("sent", 6, Screen());
  const Feed counted =
      Counted([]() -> base::Result<std::string> { return base::Err(base::Code::kInternal, "lost"); }, line);
  ASSERT_FALSE(counted());
  EXPECT_EQ(counted().error().message, "lost");
}

TEST_F(ProgressTest, APipeHasNoSize) {
  int ends[2] = {-1, -1};
  ASSERT_EQ(::pipe(ends), 0);
  EXPECT_EQ(BytesLeftIn(ends[0]), std::nullopt);
  ::close(ends[0]);
  ::close(ends[1]);
}

TEST(SpinnerTest, TurnsAndTellsTheSeconds) {
  EXPECT_EQ(SpinnerText("waits", milliseconds(0)), "| waits, 0 s");
  EXPECT_EQ(SpinnerText("waits", milliseconds(150)), "/ waits, 0 s");
  EXPECT_EQ(SpinnerText("waits", milliseconds(3350)), "/ waits, 3 s");
}

TEST(SpinnerTest, IsSeenWhileItLivesAndWipedAfterwards) {
  std::vector<std::string> written;
  std::promise<void> seen;
  {
    // The clock advances by a second at each look: the test need not wait for the delay.
    int looks = 0;
    const Spinner spinner("waits", {.write =
                                        [&](std::string_view text) {
                                          written.emplace_back(text);
                                          if (written.size() == 1) seen.set_value();
                                        },
                                    .now = [&looks] { return ProgressTime(std::chrono::seconds(looks++)); }});
    seen.get_future().wait();
  }
  EXPECT_TRUE(written.front().starts_with("\r\x1b[Kskerry: "));
  EXPECT_EQ(written.back(), "\r\x1b[K");
}

}  // namespace
}  // namespace skerry::cli
