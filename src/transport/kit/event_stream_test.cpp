#include "transport/kit/event_stream.hpp"

#include <gtest/gtest.h>

namespace skerry::transport::kit {
namespace {

std::string Written(const ServerEvent& event) {
  std::string bytes;
  AppendEvent(bytes, event);
  return bytes;
}

TEST(EventStreamTest, AnEventHasANameAnIdAndData) {
  EXPECT_EQ(Written({.name = "exit", .id = "7", .data = "{}"}), "event: exit\nid: 7\ndata: {}\n\n");
  EXPECT_EQ(Written({.data = ""}), "data: \n\n");
}

TEST(EventStreamTest, LinesOfTheDataAreFieldsOfTheirOwn) {
  EXPECT_EQ(Written({.data = "a\nb\r\nc\rd\n"}), "data: a\ndata: b\ndata: c\ndata: d\ndata: \n\n");
}

TEST(EventStreamTest, NamesAndIdsCannotBeginAField) {
  EXPECT_EQ(Written({.name = "a\ndata: evil", .id = "1\rdata: evil", .data = "x"}), "data: x\n\n");
}

TEST(EventStreamTest, AClientThatComesAgainSaysWhereItWas) {
  http::Request request;
  EXPECT_EQ(*LastEventId(request), std::nullopt);
  EXPECT_FALSE(WantsEvents(request));
  request.head.headers = {{"Last-Event-ID", "12"}, {"Accept", "text/event-stream, */*"}};
  EXPECT_EQ(*LastEventId(request), 12U);
  EXPECT_TRUE(WantsEvents(request));
  request.head.headers.Set("Last-Event-ID", "12a");
  EXPECT_FALSE(LastEventId(request));
}

TEST(HeartbeatTest, BeatsOnlyInSilence) {
  Heartbeat never(": alive\n\n", std::chrono::hours(1));
  std::string bytes;
  EXPECT_EQ(never.After(http::Pull::kWait, 0, bytes), http::Pull::kWait);
  EXPECT_EQ(bytes, "");
  Heartbeat always("beat\n", std::chrono::milliseconds(0));
  EXPECT_EQ(always.After(http::Pull::kWait, 0, bytes), http::Pull::kMore);
  EXPECT_EQ(bytes, "beat\n");
  EXPECT_EQ(always.After(http::Pull::kWait, 0, bytes), http::Pull::kWait) << "something was said";
  EXPECT_EQ(always.After(http::Pull::kEnd, bytes.size(), bytes), http::Pull::kEnd);
  EXPECT_EQ(bytes, "beat\n");
}

}  // namespace
}  // namespace skerry::transport::kit
