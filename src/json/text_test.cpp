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

TEST(JsonTextTest, WhatIsNoJsonIsToldWithItsPlace) {
  ASSERT_TRUE(ParseOrTell("[1, 2]"));
  const auto broken = ParseOrTell("[1,\n2,]");
  ASSERT_FALSE(broken);
  EXPECT_EQ(broken.error().code, base::Code::kInvalidArgument);
  EXPECT_TRUE(broken.error().message.starts_with("not JSON: ")) << broken.error().message;
  EXPECT_NE(broken.error().message.find("line 2"), std::string::npos) << broken.error().message;
}

}  // namespace
}  // namespace skerry::json
