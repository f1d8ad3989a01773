#include "bench/subject.hpp"

#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace skerry::bench {
namespace {

using std::chrono::milliseconds;
using ::testing::ElementsAre;

// Subjects that take no time but report one, and write down that they ran.
class InterleaveTest : public ::testing::Test {
 protected:
  Subject Taking(const std::string& name, Duration duration) {
    return {.group = "g", .name = name, .run = [this, name, duration]() -> base::Result<Sample> {
              log_.push_back(name);
              return Sample{.total = duration};
            }};
  }

  Subject FailingAfter(const std::string& name, std::size_t good_runs) {
    return {.group = "g", .name = name, .run = [this, name, good_runs]() -> base::Result<Sample> {
              log_.push_back(name);
              if (++runs_[name] <= good_runs) return Sample{.total = milliseconds(1)};
              return base::Err(base::Code::kExecutionFailed, "broken " + std::to_string(runs_[name]));
            }};
  }

  static Group Of(std::vector<Subject> subjects) {
    return {.name = "g", .baseline = subjects.front().name, .subjects = std::move(subjects)};
  }

  [[nodiscard]] GroupResult Run(std::vector<Subject> subjects, const Schedule& schedule) const {
    return RunInterleaved({Of(std::move(subjects))}, schedule, nullptr, std::stop_token()).front();
  }

  std::vector<std::string> log_;
  std::map<std::string, std::size_t> runs_;
};

TEST_F(InterleaveTest, EveryRoundAsksEachSubjectOnceInAnotherOrder) {
  const Duration fast = milliseconds(1);
  const auto result = Run({Taking("a", fast), Taking("b", fast), Taking("c", fast)}, {.rounds = 6, .warmups = 0});
  EXPECT_THAT(log_, ElementsAre("a", "b", "c", "b", "c", "a", "c", "a", "b",    // each comes first once
                                "c", "b", "a", "a", "c", "b", "b", "a", "c"));  // and follows the other neighbour
  for (const SubjectResult& subject : result.subjects) EXPECT_EQ(subject.samples.count(), 6U) << subject.name;
}

TEST_F(InterleaveTest, WarmUpsAreRunAndNotCounted) {
  const auto result = Run({Taking("a", milliseconds(1))}, {.rounds = 5, .warmups = 2});
  EXPECT_EQ(log_.size(), 7U);
  EXPECT_EQ(result.subjects[0].samples.count(), 5U);
}

TEST_F(InterleaveTest, ASlowSubjectTakesPartInFewerRoundsSpreadOverAll) {
  (void)Run({Taking("fast", milliseconds(1)), Taking("slow", milliseconds(101))},
            {.rounds = 20, .warmups = 1, .slow_rounds = 2});
  std::vector<std::size_t> after_fast;
  std::size_t fast = 0;
  for (std::size_t i = 2; i < log_.size(); ++i) {
    if (log_[i] == "fast") ++fast;
    if (log_[i] == "slow") after_fast.push_back(fast);
  }
  EXPECT_EQ(fast, 20U);
  ASSERT_EQ(after_fast.size(), 2U);
  EXPECT_NEAR(static_cast<double>(after_fast[0]), 10, 1);
  EXPECT_NEAR(static_cast<double>(after_fast[1]), 20, 1);
}

TEST_F(InterleaveTest, ASlowSubjectIsWarmedUpOnce) {
  (void)Run({Taking("slow", milliseconds(200))}, {.rounds = 1, .warmups = 3});
  EXPECT_EQ(log_.size(), 2U);
}

TEST_F(InterleaveTest, AVerySlowSubjectGetsTheRoundsThatFitAndOneAtLeast) {
  const auto result = Run({Taking("5 s", std::chrono::seconds(5)), Taking("60 s", std::chrono::seconds(60))},
                          {.rounds = 50, .warmups = 1, .slow_rounds = 10, .slow_time = std::chrono::seconds(20)});
  EXPECT_EQ(result.subjects[0].samples.count(), 4U);
  EXPECT_EQ(result.subjects[1].samples.count(), 1U);
}

TEST_F(InterleaveTest, ASlowSubjectNeverGetsMoreRoundsThanThereAre) {
  const auto result = Run({Taking("slow", milliseconds(200))}, {.rounds = 3, .warmups = 1, .slow_rounds = 10});
  EXPECT_EQ(result.subjects[0].samples.count(), 3U);
}

TEST_F(InterleaveTest, ASubjectThatFailsTooOftenIsDroppedWithItsLastError) {
  const auto result =
      Run({Taking("a", milliseconds(1)), FailingAfter("b", 3)}, {.rounds = 10, .warmups = 0, .allowed_failures = 2});
  EXPECT_EQ(result.subjects[0].samples.count(), 10U);
  EXPECT_EQ(result.subjects[0].failed, "");
  EXPECT_EQ(result.subjects[1].failed, "broken 6");
  EXPECT_EQ(result.subjects[1].failures, 3U);
  EXPECT_EQ(runs_["b"], 6U) << "a dropped subject is not run again";
}

TEST_F(InterleaveTest, AFailureThatIsAllowedIsCountedAndGivesNoSample) {
  const auto result = Run({FailingAfter("b", 3)}, {.rounds = 5, .warmups = 0, .allowed_failures = 2});
  EXPECT_EQ(result.subjects[0].failed, "");
  EXPECT_EQ(result.subjects[0].failures, 2U);
  EXPECT_EQ(result.subjects[0].failure, "broken 5");
  EXPECT_EQ(result.subjects[0].samples.count(), 3U);
}

TEST_F(InterleaveTest, SettleComesBeforeEveryRun) {
  Subject subject = Taking("run", milliseconds(1));
  subject.settle = [this] { log_.emplace_back("settle"); };
  (void)Run({subject}, {.rounds = 1, .warmups = 1});
  EXPECT_THAT(log_, ElementsAre("settle", "run", "settle", "run"));
}

TEST_F(InterleaveTest, WhatWasLeftOutIsInTheResultWithItsReason) {
  Group group = Of({Taking("a", milliseconds(1))});
  group.left_out.push_back({.group = "g", .name = "docker run", .reason = "no engine answers"});
  const auto result = RunInterleaved({group}, {.rounds = 1}, nullptr, std::stop_token()).front();
  ASSERT_EQ(result.subjects.size(), 2U);
  EXPECT_EQ(result.subjects[1].name, "docker run");
  EXPECT_EQ(result.subjects[1].skipped, "no engine answers");
  EXPECT_EQ(result.subjects[1].samples.count(), 0U);
}

TEST_F(InterleaveTest, AGroupWithoutSubjectsIsNoError) {
  const auto results = RunInterleaved({{.name = "empty"}}, {}, nullptr, std::stop_token());
  ASSERT_EQ(results.size(), 1U);
  EXPECT_TRUE(results[0].subjects.empty());
}

TEST_F(InterleaveTest, AStopKeepsWhatWasMeasured) {
  std::stop_source source;
  std::vector<std::size_t> rounds;
  const auto on_progress = [&](const Progress& progress) {
    EXPECT_EQ(progress.rounds, 100U);
    rounds.push_back(progress.round);
    if (progress.round == 3) source.request_stop();
  };
  const auto results = RunInterleaved({Of({Taking("a", milliseconds(1))}), Of({Taking("b", milliseconds(1))})},
                                      {.rounds = 100, .warmups = 0}, on_progress, source.get_token());
  EXPECT_THAT(rounds, ElementsAre(1, 2, 3));
  EXPECT_EQ(results[0].subjects[0].samples.count(), 3U);
  EXPECT_EQ(results[1].subjects[0].samples.count(), 0U);
}

TEST(SettleTogetherTest, EverySubjectWaitsForAllOfItsGroupOnly) {
  std::vector<std::string> log;
  const auto settling = [&](const std::string& group, const std::string& name) {
    return Subject{.group = group, .name = name, .settle = [&log, name] { log.push_back(name); }};
  };
  std::vector<Subject> subjects = {settling("g", "a"), settling("g", "b"), settling("other", "c"), {.group = "none"}};
  SettleTogether(subjects);
  subjects[0].settle();
  EXPECT_THAT(log, ElementsAre("a", "b"));
  EXPECT_FALSE(subjects[3].settle);
}

}  // namespace
}  // namespace skerry::bench
