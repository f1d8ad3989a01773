#include "json/text.hpp"

#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace skerry::json {
namespace {

TEST(JsonTextTest, KeepsTheOrderOfMembers) {
  const nlohmann::ordered_json object = {{"b", 1}, {"a", {1, "x"}}};
  EXPECT_EQ(Text(object), R"({"b":1,"a":[1,"x"]})");
  EXPECT_EQ(Text(Parse(Text(object))), Text(object));
}

TEST(JsonTextTest, BytesThatAreNoTextDoNotThrow) {
  EXPECT_EQ(Text(nlohmann::ordered_json("a\xff"
                                        "b")),
            "\"a\xEF\xBF\xBD"
            "b\"");
  EXPECT_EQ(Text(nlohmann::json("\xff")), "\"\xEF\xBF\xBD\"");
}

TEST(JsonTextTest, IndentedTextIsForPeople) {
  EXPECT_EQ(IndentedText({{"a", 1}}), "{\n  \"a\": 1\n}\n");
}

TEST(JsonTextTest, WhatIsNoJsonIsDiscarded) {
  for (const char* text : {"", "{", "[1,]", "\"\xff\"", "1 2"}) EXPECT_TRUE(Parse(text).is_discarded()) << text;
}

}  // namespace
}  // namespace skerry::json
