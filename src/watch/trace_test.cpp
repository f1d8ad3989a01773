#include "watch/trace.hpp"

#include <set>

#include <gtest/gtest.h>

namespace skerry::watch {
namespace {

const std::string kTrace = "4bf92f3577b34da6a3ce929d0e0e4736";
const std::string kSpan = "00f067aa0ba902b7";

struct Header {
  std::string name;
  std::string text;
};

class GoodTraceparentTest : public testing::TestWithParam<Header> {};

TEST_P(GoodTraceparentTest, IsRead) {
  const auto context = ParseTraceparent(GetParam().text);
  ASSERT_TRUE(context);
  EXPECT_EQ(context->trace_id, kTrace);
  EXPECT_EQ(context->span_id, kSpan);
  EXPECT_TRUE(context->sampled);
}

std::string NameOfHeader(const testing::TestParamInfo<Header>& header) {
  return header.param.name;
}

INSTANTIATE_TEST_SUITE_P(Table, GoodTraceparentTest,
                         testing::Values(Header{"Plain", "00-" + kTrace + "-" + kSpan + "-01"},
                                         Header{"UnknownFlags", "00-" + kTrace + "-" + kSpan + "-ff"},
                                         Header{"LaterVersion", "01-" + kTrace + "-" + kSpan + "-01"},
                                         Header{"LaterVersionWithMore", "cc-" + kTrace + "-" + kSpan + "-01-what.ever"},
                                         Header{"LaterVersionWithADash", "fe-" + kTrace + "-" + kSpan + "-01-"}),
                         NameOfHeader);

class BadTraceparentTest : public testing::TestWithParam<Header> {};

TEST_P(BadTraceparentTest, IsNone) {
  EXPECT_FALSE(ParseTraceparent(GetParam().text));
}

INSTANTIATE_TEST_SUITE_P(
    Table, BadTraceparentTest,
    testing::Values(Header{"Empty", ""}, Header{"Short", "00-" + kTrace + "-" + kSpan + "-0"},
                    Header{"VersionFf", "ff-" + kTrace + "-" + kSpan + "-01"},
                    Header{"VersionUpperCase", "0A-" + kTrace + "-" + kSpan + "-01"},
                    Header{"VersionNoDigits", "0x-" + kTrace + "-" + kSpan + "-01"},
                    Header{"ZeroTrace", "00-" + std::string(32, '0') + "-" + kSpan + "-01"},
                    Header{"ZeroSpan", "00-" + kTrace + "-" + std::string(16, '0') + "-01"},
                    Header{"UpperCaseTrace", "00-4BF92F3577B34DA6A3CE929D0E0E4736-" + kSpan + "-01"},
                    Header{"UpperCaseSpan", "00-" + kTrace + "-00F067AA0BA902B7-01"},
                    Header{"TraceNoDigits", "00-" + std::string(32, 'g') + "-" + kSpan + "-01"},
                    Header{"SpanNoDigits", "00-" + kTrace + "-" + std::string(16, 'g') + "-01"},
                    Header{"UpperCaseFlags", "00-" + kTrace + "-" + kSpan + "-0B"},
                    Header{"FlagsNoDigits", "00-" + kTrace + "-" + kSpan + "-.1"},
                    Header{"FirstDash", "00_" + kTrace + "-" + kSpan + "-01"},
                    Header{"SecondDash", "00-" + kTrace + "_" + kSpan + "-01"},
                    Header{"ThirdDash", "00-" + kTrace + "-" + kSpan + "_01"},
                    Header{"SpaceBefore", " 00-" + kTrace + "-" + kSpan + "-01"},
                    Header{"SpaceBehind", "00-" + kTrace + "-" + kSpan + "-01 "},
                    Header{"Version00WithMore", "00-" + kTrace + "-" + kSpan + "-01-what"},
                    Header{"LaterVersionWithMoreButNoDash", "cc-" + kTrace + "-" + kSpan + "-01.what"},
                    Header{"LongerTrace", "00-" + kTrace + "0-" + kSpan + "-01"}),
    NameOfHeader);

TEST(TraceparentTest, TheLowestFlagSaysWhetherItIsSampled) {
  for (const std::string flags : {"00", "02", "fe"})
    EXPECT_FALSE(ParseTraceparent("00-" + kTrace + "-" + kSpan + "-" + flags)->sampled) << flags;
  for (const std::string flags : {"01", "03", "0f"})
    EXPECT_TRUE(ParseTraceparent("00-" + kTrace + "-" + kSpan + "-" + flags)->sampled) << flags;
}

TEST(TraceparentTest, IsWrittenAsVersionZero) {
  EXPECT_EQ(FormatTraceparent({.trace_id = kTrace, .span_id = kSpan, .sampled = true, .state = {}}),
            "00-" + kTrace + "-" + kSpan + "-01");
  EXPECT_EQ(FormatTraceparent({.trace_id = kTrace, .span_id = kSpan, .sampled = false, .state = {}}),
            "00-" + kTrace + "-" + kSpan + "-00");
}

TEST(TraceparentTest, NoTraceIsNoHeader) {
  EXPECT_EQ(FormatTraceparent({}), "");
}

TEST(TracestateTest, WhatIsHarmlessIsPassedOn) {
  EXPECT_EQ(CleanTracestate("rojo=00f067aa0ba902b7, congo=t61rcWkgMzE~"), "rojo=00f067aa0ba902b7, congo=t61rcWkgMzE~");
  EXPECT_EQ(CleanTracestate(std::string(512, 'a')), std::string(512, 'a'));
}

TEST(TracestateTest, WhatIsLongOrNotPrintableIsDropped) {
  EXPECT_EQ(CleanTracestate(std::string(513, 'a')), "");
  for (const std::string text : {"a=b\r\nSet-Cookie: c", "a=\x1b[2J", "a=\x7f", "a=\xc3\xa4", "a=\t"})
    EXPECT_EQ(CleanTracestate(text), "") << text;
  EXPECT_EQ(CleanTracestate(std::string("a\0b", 3)), "");
}

TEST(NewTraceTest, IsWellFormedAndSampled) {
  const TraceContext trace = NewTrace();
  const auto read = ParseTraceparent(FormatTraceparent(trace));
  ASSERT_TRUE(read);
  EXPECT_EQ(read->trace_id, trace.trace_id);
  EXPECT_EQ(read->span_id, trace.span_id);
  EXPECT_TRUE(read->sampled);
}

TEST(NewTraceTest, EachIsAnother) {
  constexpr std::size_t kMany = 100;
  std::set<std::string> ids;
  for (std::size_t i = 0; i < kMany; ++i) {
    const TraceContext trace = NewTrace();
    ids.insert(trace.trace_id);
    ids.insert(trace.span_id);
  }
  EXPECT_EQ(ids.size(), 2 * kMany);
}

TEST(ChildOfTest, IsAnotherSpanOfTheSameTrace) {
  const TraceContext parent{.trace_id = kTrace, .span_id = kSpan, .sampled = false, .state = "rojo=1"};
  const TraceContext child = ChildOf(parent);
  EXPECT_EQ(child.trace_id, kTrace);
  EXPECT_NE(child.span_id, kSpan);
  EXPECT_FALSE(child.sampled);
  EXPECT_EQ(child.state, "rojo=1");
  EXPECT_TRUE(ParseTraceparent(FormatTraceparent(child)));
}

TEST(ChildOfTest, OfNoTraceItBeginsOne) {
  EXPECT_TRUE(ParseTraceparent(FormatTraceparent(ChildOf({}))));
}

}  // namespace
}  // namespace skerry::watch
