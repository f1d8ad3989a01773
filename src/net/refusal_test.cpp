#include "net/refusal.hpp"

#include <gtest/gtest.h>

namespace skerry::net {
namespace {

TEST(ErrorOfTest, TakesCodeAndMessageOfTheAnswer) {
  const base::Error error =
      ErrorOf(403, R"({"code":"rejected","message":"the code was rejected","detail":null,"request_id":"req1"})");
  EXPECT_EQ(error.code, base::Code::kRejected);
  EXPECT_EQ(error.message, "the code was rejected");
}

TEST(ErrorOfTest, GoesByTheStatusWhereTheAnswerSaysNothingItKnows) {
  EXPECT_EQ(ErrorOf(401, "").code, base::Code::kUnauthenticated);
  EXPECT_EQ(ErrorOf(404, "<html>").code, base::Code::kNotFound);
  EXPECT_EQ(ErrorOf(409, "[1]").code, base::Code::kConflict);
  EXPECT_EQ(ErrorOf(410, R"({"code":"gone"})").code, base::Code::kNotFound);
  EXPECT_EQ(ErrorOf(429, R"({"code":1,"message":1})").code, base::Code::kRateLimited);
  EXPECT_EQ(ErrorOf(502, "{}").code, base::Code::kInternal);
  EXPECT_EQ(ErrorOf(418, "{}").code, base::Code::kInvalidArgument);
  EXPECT_EQ(ErrorOf(502, "{}", "daemon").message, "the daemon refused with status 502");
}

TEST(ErrorOfTest, IsOneLineForATerminal) {
  const std::string message = ErrorOf(400, R"({"message":"a\nb\u001b[2J"})").message;
  EXPECT_FALSE(message.contains('\n'));
  EXPECT_FALSE(message.contains('\x1b'));
}

}  // namespace
}  // namespace skerry::net
