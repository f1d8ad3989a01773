#include "cli/assignments.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace skerry::cli {
namespace {

TEST(AssignmentsTest, EverythingBehindTheFirstSignIsTheValue) {
  const auto object = AssignmentsToJson({"A=1", "B=", "C=x=y", "A=2"}, "--env");
  ASSERT_TRUE(object);
  EXPECT_EQ(object->dump(), R"({"A":"2","B":"","C":"x=y"})");
  EXPECT_EQ(AssignmentsToJson({}, "--env")->dump(), "{}");
}

TEST(AssignmentsTest, WhatIsNoneIsToldWithTheOption) {
  for (const char* wrong : {"", "A", "=x", "A=\xff"}) {
    const auto object = AssignmentsToJson({wrong}, "--label");
    ASSERT_FALSE(object) << wrong;
    EXPECT_EQ(object.error().code, base::Code::kInvalidArgument);
    EXPECT_TRUE(object.error().message.starts_with("--label")) << object.error().message;
  }
}

}  // namespace
}  // namespace skerry::cli
