#include "transport/http/message.hpp"

#include <gtest/gtest.h>

#include "transport/http/answer_text.hpp"

namespace skerry::transport::http {
namespace {

using Segments = std::vector<std::string>;

TEST(HeadersTest, NamesHaveNoCase) {
  Headers headers{{"Host", "a"}, {"HOST", "b"}};
  EXPECT_EQ(headers.Find("host"), "a");
  EXPECT_EQ(headers.Count("hOST"), 2U);
  headers.Set("host", "c");
  EXPECT_EQ(headers.Find("Host"), "c");
  EXPECT_EQ(headers.Count("Host"), 1U);
  EXPECT_FALSE(headers.Find("Hos"));
}

TEST(SplitPathTest, ResolvesEscapesAfterSplitting) {
  EXPECT_EQ(*SplitPath("/"), Segments{});
  EXPECT_EQ(*SplitPath("/v1/files"), (Segments{"v1", "files"}));
  EXPECT_EQ(*SplitPath("/a%2Fb/c%20d+e"), (Segments{"a/b", "c d+e"}));
  EXPECT_EQ(*SplitPath("/%C3%A4"), (Segments{"ä"}));
}

TEST(SplitPathTest, RefusesWhatIsNoPath) {
  for (const char* path : {"", "a", "//", "/a/", "/a//b", "/.", "/..", "/a/../b", "/%2e%2E", "/%", "/%2", "/%zz",
                           "/%00", "/%ff", "/%c0%af", "/%ed%a0%80"})
    EXPECT_FALSE(SplitPath(path)) << path;
}

TEST(SplitPathTest, WhatIsNoPathHasSegmentsToo) {
  EXPECT_EQ(SplitAnyPath("/"), Segments{});
  EXPECT_EQ(SplitAnyPath("/v1/%66iles"), (Segments{"v1", "files"}));
  EXPECT_EQ(SplitAnyPath("/a/"), (Segments{"a", ""}));
  EXPECT_EQ(SplitAnyPath("//a"), (Segments{"", "a"}));
  EXPECT_EQ(SplitAnyPath("/a/../%zz/%ff/b"), (Segments{"a", "", "", "", "b"}));
}

TEST(QueryTest, NamesAndValuesAreResolved) {
  const auto query = Query::Parse("path=a%2Fb+c&empty=&flag&&%C3%A4=1");
  ASSERT_TRUE(query);
  EXPECT_EQ(query->Find("path"), "a/b c");
  EXPECT_EQ(query->Find("empty"), "");
  EXPECT_EQ(query->Find("flag"), "");
  EXPECT_EQ(query->Find("ä"), "1");
  EXPECT_FALSE(query->Find("other"));
  EXPECT_EQ(query->fields().size(), 4U);
}

TEST(QueryTest, RefusesWhatIsAmbiguousOrNoText) {
  for (const char* text : {"a=1&a=2", "a=1&%61=2", "a=%", "a=%0", "a=%00", "%ff=a", "%gg=1"})
    EXPECT_FALSE(Query::Parse(text)) << text;
}

TEST(QueryTest, ValuesMayBeAnyBytes) {
  const auto query = Query::Parse("path=a%ff");
  ASSERT_TRUE(query);
  EXPECT_EQ(query->Find("path"), "a\xff");
}

TEST(AnswerTextTest, DatesAreInEnglish) {
  EXPECT_EQ(HttpDate(784111777), "Sun, 06 Nov 1994 08:49:37 GMT");
}

TEST(AnswerTextTest, RequestIdsAreShortAndHarmless) {
  EXPECT_TRUE(IsRequestId("aZ0._-"));
  EXPECT_TRUE(IsRequestId(std::string(64, 'a')));
  EXPECT_FALSE(IsRequestId(std::string(65, 'a')));
  for (const char* text : {"", "a b", "a\"", "ä", "a/b"}) EXPECT_FALSE(IsRequestId(text)) << text;
}

}  // namespace
}  // namespace skerry::transport::http
