#include "transport/http/host_pattern.hpp"

#include <gtest/gtest.h>

namespace skerry::transport::http {
namespace {

using Parts = HostPattern::Parts;

std::optional<Parts> Matched(const char* pattern, const char* name) {
  const auto parsed = HostPattern::Parse(pattern);
  EXPECT_TRUE(parsed) << parsed.error().message;
  return parsed ? parsed->Match(name) : std::nullopt;
}

TEST(HostPatternTest, ANameIsItself) {
  EXPECT_TRUE(Matched("API.example.test", "api.example.test"));
  EXPECT_TRUE(Matched("localhost", "localhost"));
  for (const char* name : {"example.test", "xapi.example.test", "a.api.example.test", "api.example.test.evil"})
    EXPECT_FALSE(Matched("api.example.test", name)) << name;
}

TEST(HostPatternTest, AStarIsOneLabel) {
  EXPECT_EQ(Matched("*.example.test", "a-b_1.example.test"), Parts{});
  for (const char* name : {"example.test", ".example.test", "a.b.example.test", "a.example.test.evil", "aexample.test",
                           "a.example.tes", "a.xexample.test"})
    EXPECT_FALSE(Matched("*.example.test", name)) << name;
}

TEST(HostPatternTest, PartsAreGivenOut) {
  EXPECT_EQ(Matched("{port}-{id}.example.test", "49983-abc.example.test"), (Parts{{"port", "49983"}, {"id", "abc"}}));
  EXPECT_EQ(Matched("{port}-{id}.example.test", "80-12-a-b.example.test"), (Parts{{"port", "80"}, {"id", "12-a-b"}}));
  EXPECT_EQ(Matched("{id}-{port}.example.test", "a-b-80.example.test"), (Parts{{"id", "a-b"}, {"port", "80"}}));
  EXPECT_EQ(Matched("{id}.localhost", "abc.localhost"), (Parts{{"id", "abc"}}));
  EXPECT_EQ(Matched("e2b-{id}-x.example.test", "e2b-a-x.example.test"), (Parts{{"id", "a"}}));
  EXPECT_EQ(Matched("{a}-{b}.example.test", "x-y-z.example.test"), (Parts{{"a", "x"}, {"b", "y-z"}}));
  EXPECT_EQ(Matched("{port}-*.example.test", "80-x.example.test"), (Parts{{"port", "80"}}));
}

TEST(HostPatternTest, APortIsAPort) {
  for (const char* name : {"0-a.example.test", "65536-a.example.test", "080-a.example.test", "x-a.example.test",
                           "-a.example.test", "80-.example.test", "80.example.test", "123456-a.example.test"})
    EXPECT_FALSE(Matched("{port}-{id}.example.test", name)) << name;
  EXPECT_TRUE(Matched("{port}-{id}.example.test", "65535-a.example.test"));
}

TEST(HostPatternTest, WhatWouldLetInTooMuchIsNone) {
  for (const char* text : {"",
                           "*",
                           "{id}",
                           "*.",
                           ".example.test",
                           "a..b",
                           "*..test",
                           "a.*",
                           "a.*.test",
                           "*.*.test",
                           "{id}.{b}.test",
                           "**.test",
                           "{a}{b}.test",
                           "{}.test",
                           "{a.test",
                           "a}.test",
                           "{a}-{a}.test",
                           "{a}-{b}-{c}.test",
                           "*.test:80",
                           "a b.test",
                           "*.te st",
                           "{a b}.test",
                           "http://a.test",
                           "a.test/",
                           "ä.test",
                           "*.test."})
    EXPECT_FALSE(HostPattern::Parse(text)) << text;
}

TEST(HostPatternTest, PatternsMayOverlap) {
  const auto overlap = [](const char* one, const char* other) {
    return HostPattern::Parse(one)->MayOverlap(*HostPattern::Parse(other));
  };
  EXPECT_TRUE(overlap("a.test", "A.test"));
  EXPECT_FALSE(overlap("a.test", "b.test"));
  EXPECT_FALSE(overlap("a.test", "*.test"));
  EXPECT_TRUE(overlap("*.test", "{id}.test"));
  EXPECT_FALSE(overlap("*.test", "*.other"));
  EXPECT_TRUE(overlap("{port}-{id}.test", "{id}-{port}.test"));
  EXPECT_FALSE(overlap("a-*.test", "b-*.test"));
  EXPECT_FALSE(overlap("*-a.test", "*-b.test"));
  EXPECT_TRUE(overlap("a-*.test", "*-b.test"));
}

}  // namespace
}  // namespace skerry::transport::http
