#include "config/document.hpp"

#include <string>
#include <string_view>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace skerry::config {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

std::string Problem(std::string_view text) {
  const auto document = ParseDocument(text);
  return document ? "" : document.error().message;
}

TEST(DocumentTest, KeepsEveryKindOfValue) {
  constexpr std::string_view kText = R"({"a":[1,-2,1.5,"x",true,false,null,{}],"b":{"c":18446744073709551615}})";
  EXPECT_EQ(ParseDocument(kText).value(), Json::parse(kText));
}

TEST(DocumentTest, SkipsCommentsAndByteOrderMark) {
  EXPECT_EQ(ParseDocument("\xEF\xBB\xBF{ // one\n /* two\n */ \"a\": 1 }").value(), Json({{"a", 1}}));
  EXPECT_EQ(ParseDocument(R"({"a": "http://x /* y */"})").value(), Json({{"a", "http://x /* y */"}}));
}

TEST(DocumentTest, SyntaxErrorNamesLineAndColumn) {
  struct Row {
    const char* text;
    const char* start;
  };
  for (const Row& row : {Row{"", "line 1, column 1: "}, Row{"{\n  \"a\": tru\n}", "line 2, column "},
                         Row{"{\"a\": 1,}", "line 1, column 9: "}, Row{"{} {}", "line 1, column 4: "},
                         Row{"{'a': 1}", "line 1, column 2: "}, Row{"{\"a\": NaN}", "line 1, column 7: "},
                         Row{"{\"a\": Infinity}", "line 1, column 7: "}, Row{"{\"a\": 01}", "line 1, column 8: "},
                         Row{"{\"a\": 1e999}", "line 1, column "}, Row{"/* open", "line 1, column "},
                         Row{"{\"a\": \"\\ud800\"}", "line 1, column "}, Row{"// only\n", "line 2, column 1: "}})
    EXPECT_THAT(Problem(row.text), StartsWith(row.start)) << row.text;
}

TEST(DocumentTest, SyntaxErrorDoesNotQuoteTheText) {
  for (const char* text :
       {"{\"apiKey\": \"hush", "{\"apiKey\": \"hush\n\"}", "{\"apiKey\": \"hush\" x}", "{\"a\": hush}"})
    EXPECT_THAT(Problem(text), AllOf(Not(testing::IsEmpty()), Not(HasSubstr("hush")))) << text;
}

TEST(DocumentTest, KeyGivenTwiceIsRefused) {
  EXPECT_EQ(Problem(R"({"a": {"b": 1, "c": 2, "b": 1}})"), "a.b: given twice");
  EXPECT_EQ(Problem(R"({"a": [{"b": 1, "\u0062": 1}]})"), "a[].b: given twice");
  EXPECT_EQ(Problem(R"({"": 1, "": 1})"), "\"\": given twice");
  EXPECT_EQ(Problem(R"({"a": {"b": 1}, "b": {"b": 1}})"), "");
}

TEST(DocumentTest, DepthIsLimited) {
  EXPECT_EQ(Problem(std::string(kMaxDepth, '[') + std::string(kMaxDepth, ']')), "");
  EXPECT_EQ(Problem(std::string(kMaxDepth + 1, '[') + std::string(kMaxDepth + 1, ']')),
            "nested too deep, allowed are 32 levels");
  EXPECT_EQ(Problem(std::string(1'000'000, '[')), "nested too deep, allowed are 32 levels");
}

TEST(DocumentTest, BytesThatAreNotTextAreRefused) {
  using std::string_view_literals::operator""sv;
  EXPECT_EQ(Problem("{} // \xFF"sv), "not valid UTF-8");
  EXPECT_EQ(Problem("{}\0{\"a\""sv), "contains a NUL byte");
}

TEST(DocumentTest, ManyKeysDoNotTakeQuadraticTime) {
  std::string text = "{";
  for (int i = 0; i < 80'000; ++i) text += "\"" + std::to_string(i) + "\":0,";
  EXPECT_EQ(Problem(text + "\"x\":0}"), "");
}

}  // namespace
}  // namespace skerry::config
