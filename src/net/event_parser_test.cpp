#include "net/event_parser.hpp"

#include <gtest/gtest.h>

namespace skerry::net {
namespace {

using namespace std::string_view_literals;

// "name|data|id" of every event, whatever pieces the text comes in.
std::vector<std::string> EventsOf(std::string_view text, std::size_t piece) {
  EventParser parser;
  std::vector<std::string> events;
  for (; !text.empty(); text.remove_prefix(std::min(piece, text.size()))) {
    EXPECT_TRUE(parser.Feed(text.substr(0, piece)).has_value());
    while (const auto event = parser.Next()) events.push_back(event->name + "|" + event->data + "|" + event->id);
  }
  return events;
}

struct Row {
  const char* what;
  std::string_view text;
  std::vector<std::string> events;
};

class EventParserTest : public testing::TestWithParam<std::size_t> {};

TEST_P(EventParserTest, GivesWholeEventsInPiecesOfAnySize) {
  const std::vector<Row> rows = {
      {"two", "event: a\ndata: 1\nid: 7\n\nevent: b\ndata: 2\n\n", {"a|1|7", "b|2|7"}},
      {"CRLF", "event: a\r\ndata: 1\r\n\r\ndata: 2\r\n\r\n", {"a|1|", "message|2|"}},
      {"comments", ": keep-alive\n\n:\n\ndata: 1\n: between\n\n", {"message|1|"}},
      {"several lines", "data: one\ndata:two\ndata\ndata:  four\n\n", {"message|one\ntwo\n\n four|"}},
      {"no data is no event", "event: a\nid: 3\n\ndata: x\n\n", {"message|x|3"}},
      {"an empty event is one", "data\n\n", {"message||"}},
      {"fields nobody knows", "retry: 5\nfoo: bar\ndata: x\n\n", {"message|x|"}},
      {"an event that is not over", "data: x\n", {}},
      {"a mark at the beginning",
       "\xEF\xBB\xBF"
       "data: x\n\n",
       {"message|x|"}},
      {"an id with NUL", "id: 1\ndata: x\n\nid: \0\ndata: y\n\n"sv, {"message|x|1", "message|y|1"}},
  };
  for (const Row& row : rows) EXPECT_EQ(EventsOf(row.text, GetParam()), row.events) << row.what;
}

INSTANTIATE_TEST_SUITE_P(Pieces, EventParserTest, testing::Values(1, 2, 3, 5, 1000));

TEST(EventParserTest, TakesCrAlone) {
  EXPECT_EQ(EventsOf("data: a\rdata: b\r\rdata: c\r\r:", 1000),
            (std::vector<std::string>{"message|a\nb|", "message|c|"}));
}

TEST(EventParserTest, ReadsAnEventOfManyPiecesInLinearTime) {
  EventParser parser;
  for (int i = 0; i < 20000; ++i) {
    ASSERT_TRUE(parser.Feed("data: 0123456789012345678901234567890123456789\n").has_value());
    ASSERT_FALSE(parser.Next().has_value());
  }
  ASSERT_TRUE(parser.Feed("\n").has_value());
  EXPECT_EQ(parser.Next()->data.size(), 20000U * 41 - 1);
}

TEST(EventParserTest, AnEventWithoutEndIsTooLarge) {
  for (const std::string piece : {"data: 0123456789\n", "data 0123456789", ": 0123456789"}) {
    EventParser parser(100);
    base::Status fed;
    for (int i = 0; i < 20 && fed; ++i) {
      fed = parser.Feed(piece);
      EXPECT_FALSE(parser.Next().has_value());
    }
    ASSERT_FALSE(fed.has_value()) << piece;
    EXPECT_EQ(fed.error().code, base::Code::kTooLarge);
  }
}

TEST(EventParserTest, ManyEventsAreNotTooLarge) {
  EventParser parser(100);
  for (int i = 0; i < 20; ++i) {
    ASSERT_TRUE(parser.Feed("data: 0123456789\n\n").has_value());
    EXPECT_TRUE(parser.Next().has_value());
  }
}

}  // namespace
}  // namespace skerry::net
