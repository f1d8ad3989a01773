// Answers, lines of JSON and the query: what handlers of every dialect use.
#include "transport/kit/answers.hpp"

#include <array>

#include <gtest/gtest.h>

#include "engine/disk_room.hpp"
#include "transport/kit/json_lines.hpp"
#include "transport/kit/query.hpp"

namespace skerry::transport::kit {
namespace {

http::Request WithQuery(std::string_view query) {
  http::Request request;
  request.head.query = *http::Query::Parse(query);
  return request;
}

TEST(AnswersTest, JsonIsOneLineWhateverIsInIt) {
  const http::Response answer = JsonAnswer(201, {{"text", "a\nb\xff"}});
  EXPECT_EQ(answer.status, 201);
  EXPECT_EQ(answer.headers.Find("Content-Type"), "application/json");
  EXPECT_EQ(std::get<std::string>(answer.body), "{\"text\":\"a\\nb\xEF\xBF\xBD\"}\n");
  EXPECT_EQ(NoContent().status, 204);
}

TEST(AnswersTest, ErrorsSayWhenToComeAgainAndThatTheDiskIsFull) {
  EXPECT_EQ(RefusalFor({base::Code::kNotFound, "no"}).status, 404);
  EXPECT_EQ(RefusalFor({base::Code::kRateLimited, "often"}).headers.Find("Retry-After"), "1");
  EXPECT_EQ(RefusalFor(engine::NoRoomOnDisk().error()).status, 507);
}

TEST(AnswersTest, ARefusalKeepsItsHeadersHoweverItIsWorded) {
  const http::Handler handler = Answering(
      [](const http::Request&) -> base::Result<http::Response> { return base::Err(base::Code::kRateLimited, "often"); },
      [](const http::Refusal& refusal, const std::string&) {
        return JsonAnswer(refusal.status, {{"oops", refusal.message}});
      });
  const http::Response answer = handler({});
  EXPECT_EQ(answer.status, 429);
  EXPECT_EQ(answer.headers.Find("Retry-After"), "1");
  EXPECT_EQ(std::get<std::string>(answer.body), "{\"oops\":\"often\"}\n");
}

TEST(JsonLinesTest, EachValueIsALine) {
  std::string bytes;
  AppendJsonLine(bytes, {{"type", "stdout"}, {"text", "a\r\nb\n"}});
  AppendJsonLine(bytes, "x");
  EXPECT_EQ(bytes, "{\"type\":\"stdout\",\"text\":\"a\\r\\nb\\n\"}\n\"x\"\n");
  EXPECT_EQ(JsonLinesAnswer(nullptr).headers.Find("Content-Type"), "application/x-ndjson");
}

TEST(StrictQueryTest, NumbersHaveBounds) {
  EXPECT_EQ(*NumberOf(WithQuery(""), "n", 1, 9, 5), 5U);
  EXPECT_EQ(*NumberOf(WithQuery("n=9"), "n", 1, 9, 5), 9U);
  for (const char* query : {"n=", "n=0", "n=10", "n=-1", "n=+1", "n=1x", "n=1.0", "n=99999999999999999999"})
    EXPECT_FALSE(NumberOf(WithQuery(query), "n", 1, 9, 5)) << query;
}

TEST(StrictQueryTest, WordsAreOfAListAndNamesToo) {
  constexpr std::array<std::string_view, 2> kWords = {"a", "b"};
  EXPECT_EQ(*WordOf(WithQuery("w=b"), "w", kWords, "a"), "b");
  EXPECT_EQ(*WordOf(WithQuery(""), "w", kWords, "a"), "a");
  EXPECT_FALSE(WordOf(WithQuery("w=c"), "w", kWords, "a"));
  EXPECT_FALSE(TextOf(WithQuery(""), "t"));
  EXPECT_EQ(*TextOf(WithQuery("t=x"), "t"), "x");
  EXPECT_TRUE(OnlyQuery(WithQuery("t=x"), {"t", "u"}));
  EXPECT_FALSE(OnlyQuery(WithQuery("t=x&v=1"), {"t", "u"}));
}

}  // namespace
}  // namespace skerry::transport::kit
