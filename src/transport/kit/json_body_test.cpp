#include "transport/kit/json_body.hpp"

#include <gtest/gtest.h>

namespace skerry::transport::kit {
namespace {

TEST(JsonBodyTest, NothingIsAnEmptyObject) {
  http::Request request;
  EXPECT_EQ(*JsonBodyOf(request), nlohmann::json::object());
  request.body = {.bytes = R"({"a": 1})", .size = 8};
  EXPECT_EQ((*JsonBodyOf(request))["a"], 1);
  request.body = {.bytes = R"({"a": 1, "a": 2})", .size = 16};
  EXPECT_FALSE(JsonBodyOf(request));
}

TEST(TextMapTest, HasLimits) {
  constexpr TextMapLimits kLimits{.most = 2, .longest_name = 3, .longest = 4, .together = 10};
  const auto takes = [&](const nlohmann::json& map) {
    const nlohmann::json body = {{"map", map}};
    json::Fields fields(body);
    (void)ReadTextMap(fields, "map", kLimits);
    return fields.Finish().has_value();
  };
  EXPECT_TRUE(takes({{"a", "1"}, {"abc", "1234"}}));
  EXPECT_FALSE(takes({{"a", "1"}, {"b", "1"}, {"c", "1"}}));
  EXPECT_FALSE(takes({{"abcd", "1"}}));
  EXPECT_FALSE(takes({{"", "1"}}));
  EXPECT_FALSE(takes({{"a", "12345"}}));
  EXPECT_FALSE(takes({{"abc", "1234"}, {"abd", "1234"}}));
  EXPECT_FALSE(takes({{"a", 1}}));
}

}  // namespace
}  // namespace skerry::transport::kit
