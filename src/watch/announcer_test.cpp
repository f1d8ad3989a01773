#include "watch/announcer.hpp"

#include <gtest/gtest.h>

#include "watch/fake_post.hpp"

namespace skerry::watch {
namespace {

using namespace std::chrono_literals;
using testing::TestWithParam;
using testing::Values;

constexpr const char* kSecret = "a secret of some length";

AnnouncerOptions Impatient() {
  return {.url = "http://receiver.test/hook", .secret = kSecret, .first_pause = 0ms};
}

Announcement About(const std::string& id, std::chrono::milliseconds time = 1h) {
  return {.id = id, .body = R"({"approval_id":")" + id + "\"}", .until = std::chrono::system_clock::now() + time};
}

std::string HeaderOf(const Posting& posting, std::string_view name) {
  for (const auto& [candidate, value] : posting.headers)
    if (candidate == name) return value;
  return "";
}

std::vector<std::string> BodiesOf(const std::vector<Posting>& postings) {
  std::vector<std::string> bodies;
  for (const Posting& posting : postings) bodies.push_back(posting.body);
  return bodies;
}

// Expected values by openssl dgst -sha256 -hmac.
TEST(SignatureTest, CoversTheTimeAndTheBody) {
  EXPECT_EQ(SignatureOf(kSecret, "1700000000", R"({"a":1})"),
            "v1=e09db3ce6e6e8f9b633a62851e5074a9e9148ac19b1c0e1a8f7c352380be630b");
}

TEST(AnnouncerTest, SendsTheBodySigned) {
  const FakePost server({200});
  Announcer announcer(Impatient(), server.post(), {});
  announcer.Announce(About("apr_a"));
  const auto sent = server.Await(1);
  ASSERT_EQ(sent.size(), 1);
  EXPECT_EQ(sent[0].url, "http://receiver.test/hook");
  EXPECT_EQ(sent[0].body, R"({"approval_id":"apr_a"})");
  EXPECT_EQ(HeaderOf(sent[0], "Content-Type"), "application/json");
  EXPECT_EQ(HeaderOf(sent[0], "Skerry-Signature"),
            SignatureOf(kSecret, HeaderOf(sent[0], "Skerry-Timestamp"), sent[0].body));
}

TEST(AnnouncerTest, SaysWhenItWasSigned) {
  const FakePost server({200});
  const auto before = std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
  Announcer announcer(Impatient(), server.post(), {});
  announcer.Announce(About("apr_a"));
  const auto sent = server.Await(1);
  ASSERT_EQ(sent.size(), 1);
  const std::chrono::sys_seconds signed_at(std::chrono::seconds(std::stoll(HeaderOf(sent[0], "Skerry-Timestamp"))));
  EXPECT_GE(signed_at, before);
  EXPECT_LE(signed_at, std::chrono::system_clock::now());
}

class HeardTest : public TestWithParam<int> {};

TEST_P(HeardTest, AnyStatusFrom200To299IsHeard) {
  const FakePost server({GetParam()});
  Announcer announcer(Impatient(), server.post(), {});
  announcer.Announce(About("apr_a"));
  EXPECT_TRUE(Eventually([&] { return announcer.Statistics().delivered == 1; }));
  EXPECT_EQ(announcer.Statistics().failed_attempts, 0);
}

INSTANTIATE_TEST_SUITE_P(Statuses, HeardTest, Values(200, 202, 204, 299));

class NotHeardTest : public TestWithParam<base::Result<int>> {};

TEST_P(NotHeardTest, EverythingElseIsTriedAgainAsTheSameDelivery) {
  const FakePost server({GetParam(), GetParam(), 200});
  Announcer announcer(Impatient(), server.post(), {});
  announcer.Announce(About("apr_a"));
  EXPECT_TRUE(Eventually([&] { return announcer.Statistics().delivered == 1; }));
  EXPECT_EQ(announcer.Statistics().failed_attempts, 2);
  const auto sent = server.Await(3);
  ASSERT_EQ(sent.size(), 3);
  EXPECT_NE(HeaderOf(sent[0], "Skerry-Delivery"), "");
  EXPECT_EQ(HeaderOf(sent[2], "Skerry-Delivery"), HeaderOf(sent[0], "Skerry-Delivery"));
  EXPECT_EQ(sent[2].body, sent[0].body);
}

INSTANTIATE_TEST_SUITE_P(Answers, NotHeardTest,
                         Values(base::Result<int>(301), base::Result<int>(400), base::Result<int>(404),
                                base::Result<int>(500), base::Result<int>(503),
                                base::Result<int>(base::Err(base::Code::kUnavailable, "nobody there"))));

TEST(AnnouncerTest, TwoDeliveriesHaveTwoNames) {
  const FakePost server({200});
  Announcer announcer(Impatient(), server.post(), {});
  announcer.Announce(About("apr_a"));
  announcer.Announce(About("apr_b"));
  const auto sent = server.Await(2);
  ASSERT_EQ(sent.size(), 2);
  EXPECT_NE(HeaderOf(sent[0], "Skerry-Delivery"), HeaderOf(sent[1], "Skerry-Delivery"));
}

// A repetition would come before the second announcement.
TEST(AnnouncerTest, GoneEndsIt) {
  const FakePost server({410, 200});
  Announcer announcer(Impatient(), server.post(), {});
  announcer.Announce(About("apr_a"));
  ASSERT_TRUE(Eventually([&] { return announcer.Statistics().given_up == 1; }));
  announcer.Announce(About("apr_b"));
  ASSERT_TRUE(Eventually([&] { return announcer.Statistics().delivered == 1; }));
  EXPECT_EQ(BodiesOf(server.Await(2)),
            (std::vector<std::string>{R"({"approval_id":"apr_a"})", R"({"approval_id":"apr_b"})"}));
}

TEST(AnnouncerTest, WhatIsWithdrawnWhileItIsSentIsNotSentAgain) {
  const FakePost server({500, 200});
  server.Hold();
  Announcer announcer(Impatient(), server.post(), {});
  announcer.Announce(About("apr_a"));
  ASSERT_EQ(server.Await(1).size(), 1);
  announcer.Withdraw("apr_a");
  server.Resume();
  ASSERT_TRUE(Eventually([&] { return announcer.Statistics().failed_attempts == 1; }));
  announcer.Announce(About("apr_b"));
  ASSERT_TRUE(Eventually([&] { return announcer.Statistics().delivered == 1; }));
  EXPECT_EQ(server.Await(2)[1].body, R"({"approval_id":"apr_b"})");
  EXPECT_EQ(announcer.Statistics().given_up, 0);
}

TEST(AnnouncerTest, WhatIsWithdrawnWhileItWaitsIsNotSent) {
  const FakePost server({200});
  server.Hold();
  Announcer announcer(Impatient(), server.post(), {});
  announcer.Announce(About("apr_a"));
  ASSERT_EQ(server.Await(1).size(), 1);
  announcer.Announce(About("apr_b"));
  announcer.Announce(About("apr_c"));
  announcer.Withdraw("apr_b");
  server.Resume();
  const auto sent = server.Await(2);
  ASSERT_EQ(sent.size(), 2);
  EXPECT_EQ(sent[1].body, R"({"approval_id":"apr_c"})");
}

TEST(AnnouncerTest, AnotherIsNotHeldUpByOneThatWaitsForItsNextAttempt) {
  const FakePost server({500, 200});
  AnnouncerOptions options = Impatient();
  options.first_pause = options.longest_pause = 1h;
  Announcer announcer(options, server.post(), {});
  announcer.Announce(About("apr_a"));
  ASSERT_TRUE(Eventually([&] { return announcer.Statistics().failed_attempts == 1; }));
  announcer.Announce(About("apr_b"));
  EXPECT_TRUE(Eventually([&] { return announcer.Statistics().delivered == 1; }));
}

TEST(AnnouncerTest, PausesGrow) {
  const FakePost server({500, 500, 500, 200});
  AnnouncerOptions options = Impatient();
  options.first_pause = 5ms;
  Announcer announcer(options, server.post(), {});
  const auto begin = std::chrono::steady_clock::now();
  announcer.Announce(About("apr_a"));
  ASSERT_EQ(server.Await(4).size(), 4);
  EXPECT_GE(std::chrono::steady_clock::now() - begin, 5ms + 10ms + 20ms);
}

// If pauses doubled for ever, the last one would take months.
TEST(AnnouncerTest, PausesGrowOnlyToTheLongest) {
  const FakePost server({500});
  AnnouncerOptions options = Impatient();
  options.first_pause = options.longest_pause = 1ms;
  Announcer announcer(options, server.post(), {});
  announcer.Announce(About("apr_a"));
  EXPECT_GE(server.Await(40).size(), 40);
}

TEST(AnnouncerTest, GivesUpWhenNobodyNeedsToKnowAnyMore) {
  const FakePost server({500});
  Sayings sayings;
  AnnouncerOptions options = Impatient();
  options.first_pause = options.longest_pause = 1h;
  Announcer announcer(options, server.post(), sayings.listener());
  announcer.Announce(About("apr_a", 100ms));
  EXPECT_TRUE(Eventually([&] { return announcer.Statistics().given_up == 1; }));
  EXPECT_TRUE(Eventually([&] { return !sayings.texts().empty() && sayings.texts().back().contains("apr_a"); }));
}

TEST(AnnouncerTest, WhatIsOverIsNotSent) {
  const FakePost server({200});
  Announcer announcer(Impatient(), server.post(), {});
  announcer.Announce(About("apr_a", -1s));
  ASSERT_TRUE(Eventually([&] { return announcer.Statistics().given_up == 1; }));
  EXPECT_TRUE(server.Await(0).empty());
}

TEST(AnnouncerTest, AnAttemptTakesNoLongerThanItIsWanted) {
  const FakePost server({200});
  Announcer announcer(Impatient(), server.post(), {});
  announcer.Announce(About("apr_a", 5s));
  const auto sent = server.Await(1);
  ASSERT_EQ(sent.size(), 1);
  EXPECT_LE(sent[0].timeout, 5s);
}

TEST(AnnouncerTest, WhatIsWantedForEverIsSent) {
  const FakePost server({200});
  Announcer announcer(Impatient(), server.post(), {});
  announcer.Announce({.id = "apr_a", .body = "{}", .until = std::chrono::system_clock::time_point::max()});
  EXPECT_EQ(server.Await(1).size(), 1);
}

TEST(AnnouncerTest, MoreThanTheMostAreNotAnnounced) {
  const FakePost server({200});
  Sayings sayings;
  server.Hold();
  AnnouncerOptions options = Impatient();
  options.max_waiting = 1;
  Announcer announcer(options, server.post(), sayings.listener());
  announcer.Announce(About("apr_a"));
  ASSERT_EQ(server.Await(1).size(), 1);
  announcer.Announce(About("apr_b"));
  announcer.Announce(About("apr_c"));
  EXPECT_EQ(announcer.Statistics().given_up, 1);
  ASSERT_EQ(sayings.texts().size(), 1);
  EXPECT_TRUE(sayings.texts()[0].contains("apr_c")) << sayings.texts()[0];
  server.Resume();
  EXPECT_TRUE(Eventually([&] { return announcer.Statistics().delivered == 2; }));
}

TEST(AnnouncerTest, SaysOnceThatTheServerDoesNotListen) {
  const FakePost server({500, 500, 500, 200});
  Sayings sayings;
  Announcer announcer(Impatient(), server.post(), sayings.listener());
  announcer.Announce(About("apr_a"));
  ASSERT_TRUE(Eventually([&] { return announcer.Statistics().delivered == 1; }));
  ASSERT_EQ(sayings.texts().size(), 1);
  EXPECT_TRUE(sayings.texts()[0].contains("500")) << sayings.texts()[0];
}

TEST(AnnouncerTest, NeverSaysTheSecret) {
  const FakePost server({410});
  Sayings sayings;
  Announcer announcer(Impatient(), server.post(), sayings.listener());
  announcer.Announce(About("apr_a"));
  ASSERT_TRUE(Eventually([&] { return !sayings.texts().empty(); }));
  EXPECT_FALSE(sayings.texts()[0].contains(kSecret));
}

}  // namespace
}  // namespace skerry::watch
