#include "engine/analyses.hpp"

#include <atomic>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace skerry::engine {
namespace {

using base::Code;
using std::chrono_literals::operator""ms;
using std::chrono_literals::operator""s;

constexpr auto kShell = core::Language::kShell;

// Code that takes its whole budget: some tenths of a second.
std::string HardCode(std::size_t bytes = 100'000) {
  std::string code;
  while (code.size() < bytes) code += "$(";
  return code;
}

template <class Condition>
bool Eventually(Condition&& condition) {
  for (int turn = 0; turn < 6000; ++turn) {
    if (condition()) return true;
    std::this_thread::sleep_for(10ms);
  }
  return false;
}

const AnalysisOwner kAnn{.token = "ann-1", .tenant = "ann"};
const AnalysisOwner kBob{.token = "bob-1", .tenant = "bob"};

class AnalysesTest : public ::testing::Test {
 protected:
  base::Result<core::RiskAssessment> Assess(Analyses& analyses, const AnalysisOwner& owner, std::string_view code,
                                            const std::stop_token& stop = {}) {
    return analyses.Assess(policy_, kShell, code, owner, stop);
  }
  policy::RiskPolicy policy_;
};

// Asks for one analysis after another, in a thread of its own, until it is destroyed.
class Asking {
 public:
  Asking(Analyses& analyses, AnalysisOwner owner, std::string code)
      : thread_([&analyses, owner = std::move(owner), code = std::move(code)](const std::stop_token& stop) {
          const policy::RiskPolicy policy;
          while (!stop.stop_requested()) (void)analyses.Assess(policy, kShell, code, owner, stop);
        }) {}

 private:
  std::jthread thread_;
};

TEST_F(AnalysesTest, TheAnswerIsThatOfThePolicy) {
  Analyses analyses;
  const auto risk = Assess(analyses, kAnn, "rm -rf /");
  ASSERT_TRUE(risk);
  EXPECT_EQ(risk->level, policy_.Assess(kShell, "rm -rf /").level);
  EXPECT_EQ(analyses.Now().under_way, 0U);
  EXPECT_EQ(analyses.Now().memory, 0U);
}

TEST_F(AnalysesTest, ATokenHasOnlySoManyAtOnce) {
  Analyses analyses({.at_once = 1});
  const Asking first(analyses, kAnn, HardCode());
  const Asking second(analyses, kAnn, HardCode());
  ASSERT_TRUE(Eventually([&] { return analyses.Now().waiting == 1; }));
  EXPECT_EQ(analyses.Now().under_way, 1U);
  // Another token does not wait for them.
  EXPECT_TRUE(Assess(analyses, kBob, "ls"));
}

TEST_F(AnalysesTest, WhatWouldTakeTooMuchMemoryWithTheOthersWaits) {
  const std::size_t one = policy::Budget::LimitsFor(HardCode().size()).memory;
  Analyses analyses({.memory = one + one / 2, .at_once = 8});
  const Asking first(analyses, kAnn, HardCode());
  ASSERT_TRUE(Eventually([&] { return analyses.Now().under_way == 1; }));
  const Asking second(analyses, kBob, HardCode());
  ASSERT_TRUE(Eventually([&] { return analyses.Now().waiting == 1; }));
  EXPECT_LE(analyses.Now().memory, one + one / 2);
}

TEST_F(AnalysesTest, OneTenantLeavesRoomForAnother) {
  const std::size_t one = policy::Budget::LimitsFor(HardCode().size()).memory;
  Analyses analyses({.memory = 4 * one, .at_once = 8});
  std::vector<std::unique_ptr<Asking>> many;
  many.reserve(6);
  for (int i = 0; i < 6; ++i)
    many.push_back(std::make_unique<Asking>(
        analyses, AnalysisOwner{.token = "ann-" + std::to_string(i), .tenant = "ann"}, HardCode()));
  ASSERT_TRUE(Eventually([&] { return analyses.Now().waiting >= 3; }));
  for (int i = 0; i < 5; ++i) EXPECT_LE(analyses.Now().memory, 2 * one);
  EXPECT_TRUE(Assess(analyses, kBob, "ls"));
}

TEST_F(AnalysesTest, BesideOthersATenantHasFewerAtOnce) {
  Analyses analyses({.at_once = 8, .beside_others = 1});
  const Asking others(analyses, kBob, "ls");
  ASSERT_TRUE(Assess(analyses, kBob, "ls"));
  const Asking first(analyses, kAnn, HardCode());
  const Asking second(analyses, {.token = "ann-2", .tenant = "ann"}, HardCode());
  ASSERT_TRUE(Eventually([&] { return analyses.Now().waiting == 1; }));
  // Short code does not count.
  EXPECT_TRUE(Assess(analyses, kAnn, "ls"));
}

TEST_F(AnalysesTest, TooManyThatWaitAreRefused) {
  Analyses analyses({.at_once = 1, .waiting = 2});
  std::vector<std::unique_ptr<Asking>> many;
  many.reserve(3);
  for (int i = 0; i < 3; ++i) many.push_back(std::make_unique<Asking>(analyses, kAnn, HardCode()));
  ASSERT_TRUE(Eventually([&] { return analyses.Now().waiting == 2; }));
  std::atomic<bool> refused = false;
  EXPECT_TRUE(Eventually([&] {
    const auto risk = Assess(analyses, kAnn, "ls");
    refused = !risk && risk.error().code == Code::kRateLimited;
    return refused.load();
  }));
  EXPECT_GE(analyses.RetryAfter(kAnn.token), 1s);
}

TEST_F(AnalysesTest, SoIsTooMuchCodeThatWaits) {
  Analyses analyses({.waiting_bytes = 1000});
  const auto risk = Assess(analyses, kAnn, std::string(1001, ' '));
  ASSERT_FALSE(risk);
  EXPECT_EQ(risk.error().code, Code::kRateLimited);
}

TEST_F(AnalysesTest, WorkIsCountedByTokenAndComesBackWithTime) {
  std::atomic<int> seconds = 0;
  const auto begin = AnalysesOptions::Clock::now();
  Analyses analyses({.work_per_second = 100, .work_saved = 1000, .patience = 0s, .now = [&] {
                       return begin + std::chrono::seconds(seconds.load());
                     }});
  ASSERT_TRUE(Assess(analyses, kAnn, "ls; ls; ls")) << "what was saved is enough to begin";
  EXPECT_EQ(Assess(analyses, kAnn, "ls").error().code, Code::kRateLimited);
  EXPECT_TRUE(Assess(analyses, kBob, "ls")) << "another token has its own";
  const std::chrono::seconds wait = analyses.RetryAfter(kAnn.token);
  EXPECT_GT(wait, 1s);
  seconds += static_cast<int>(wait.count());
  EXPECT_TRUE(Assess(analyses, kAnn, "ls"));
}

TEST_F(AnalysesTest, WhoeverLeavesEndsIt) {
  Analyses analyses;
  std::stop_source left;
  std::jthread asking([&] {
    const auto risk = Assess(analyses, kAnn, HardCode(4'000'000), left.get_token());
    EXPECT_FALSE(risk);
    EXPECT_EQ(risk.error().code, Code::kUnavailable);
  });
  ASSERT_TRUE(Eventually([&] { return analyses.Now().under_way == 1; }));
  left.request_stop();
  asking.join();
  EXPECT_EQ(analyses.Now().memory, 0U);
}

TEST_F(AnalysesTest, StopEndsThoseUnderWayAndThoseThatWait) {
  Analyses analyses({.at_once = 1});
  std::vector<std::jthread> asking;
  std::atomic<int> unavailable = 0;
  asking.reserve(4);
  for (int i = 0; i < 4; ++i)
    asking.emplace_back([&] {
      const auto risk = Assess(analyses, kAnn, HardCode(4'000'000));
      if (!risk && risk.error().code == Code::kUnavailable) ++unavailable;
    });
  ASSERT_TRUE(Eventually([&] { return analyses.Now().waiting == 3; }));
  analyses.Stop();
  asking.clear();
  EXPECT_EQ(unavailable, 4);
  EXPECT_EQ(Assess(analyses, kAnn, "ls").error().code, Code::kUnavailable);
}

}  // namespace
}  // namespace skerry::engine
