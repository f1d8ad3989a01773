#include "cli/daemon_client.hpp"

#include <gtest/gtest.h>

namespace skerry::cli {
namespace {

TEST(DaemonClientTest, ARefusalIsTheErrorThatTheDaemonHad) {
  const base::Error error = RefusalFrom(
      400, R"({"code":"path_escapes_workspace","message":"../x: leads out","detail":null,"request_id":"r"})");
  EXPECT_EQ(error.code, base::Code::kPathTraversal);
  EXPECT_EQ(error.message, "../x: leads out");
}

TEST(DaemonClientTest, WhatIsBehindTheFirstLineIsKept) {
  EXPECT_EQ(RefusalFrom(409, R"({"code":"conflict","message":"a\nb"})").message, "a\nb");
  EXPECT_EQ(RefusalFrom(409, R"({"code":"conflict","message":"a","detail":"  1| b"})").message, "a\n  1| b");
}

TEST(DaemonClientTest, WhatIsNoErrorOfTheContractIsTakenByItsStatus) {
  EXPECT_EQ(RefusalFrom(404, "<html>").code, base::Code::kNotFound);
  EXPECT_EQ(RefusalFrom(412, R"({"code":"precondition_failed","message":"other"})").code, base::Code::kInvalidArgument);
  EXPECT_FALSE(RefusalFrom(502, "").message.empty());
}

TEST(DaemonClientTest, ANameCannotBecomeAnotherRoute) {
  EXPECT_EQ(*InSession("a.b-1", "/files"), "/v1/sessions/a.b-1/files");
  for (const char* name : {"", "..", ".", "a/b", "a?b", "a#b", "a%2fb", "a b", "-a"})
    EXPECT_FALSE(InSession(name)) << name;
}

TEST(DaemonClientTest, AQueryHasWhatIsThereEscaped) {
  EXPECT_EQ(WithQuery("/x", {}), "/x");
  EXPECT_EQ(WithQuery("/x", {{"a", std::nullopt}, {"b", "1&c=\xff"}, {"d", ""}}), "/x?b=1%26c%3D%FF&d=");
  EXPECT_EQ(WithQuery("/x?a=1", {{"b", "2"}}), "/x?a=1&b=2");
}

TEST(DaemonClientTest, OnlyTextGoesIntoJson) {
  EXPECT_TRUE(CheckIsText("é", "x"));
  const auto checked = CheckIsText("\xff", "the code");
  ASSERT_FALSE(checked);
  EXPECT_TRUE(checked.error().message.starts_with("the code is no UTF-8"));
}

}  // namespace
}  // namespace skerry::cli
