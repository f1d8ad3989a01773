#include "net/json_lines.hpp"

#include <semaphore>

#include <gtest/gtest.h>

#include "net/client.hpp"
#include "net/test_server.hpp"

namespace skerry::net {
namespace {

using namespace std::chrono_literals;

base::Deadline Soon() {
  return base::Deadline::After(10s);
}

// What the lines of `body` are, and how they end.
std::vector<std::string> LinesOf(const std::string& body, std::size_t max_line = JsonLines::kMaxLine) {
  TestServer server({[&](TestPeer& peer) { peer.Answer(body); }});
  Client client(server.endpoint());
  auto answer = client.Send({.target = "/"}, Soon());
  if (!answer) return {"lost"};
  JsonLines lines(std::move(*answer), max_line);
  std::vector<std::string> all;
  for (;;) {
    const auto value = lines.Next(Soon());
    if (!value) all.emplace_back(base::RowOf(value.error().code).name);
    if (!value || !*value) return all;
    all.push_back((*value)->dump());
  }
}

using Lines = std::vector<std::string>;

TEST(JsonLinesTest, AreValuesInTheirOrder) {
  EXPECT_EQ(LinesOf("{\"a\": 1}\n[2]\r\n\n \r\n\"three\"\n"), (Lines{"{\"a\":1}", "[2]", "\"three\""}));
  EXPECT_EQ(LinesOf(""), Lines());
  EXPECT_EQ(LinesOf("\n"), Lines());
}

TEST(JsonLinesTest, TheLastNeedsNoEnd) {
  EXPECT_EQ(LinesOf("1\n2"), (Lines{"1", "2"}));
}

TEST(JsonLinesTest, ALineThatIsNoJsonIsAnError) {
  EXPECT_EQ(LinesOf("1\nno\n3\n"), (Lines{"1", "unavailable"}));
  EXPECT_EQ(LinesOf("{\"cut"), Lines{"unavailable"});
  EXPECT_EQ(LinesOf("1 2\n"), Lines{"unavailable"});
}

TEST(JsonLinesTest, ALongLineIsTooLargeAlsoBeforeItEnds) {
  EXPECT_EQ(LinesOf("1\n\"" + std::string(100, 'x') + "\"\n", 100), (Lines{"1", "too_large"}));
  EXPECT_EQ(LinesOf("1\n\"" + std::string(1'000'000, 'x'), 100'000), (Lines{"1", "too_large"}));
  EXPECT_EQ(LinesOf("\"" + std::string(98, 'x') + "\"\n", 100).front().size(), 100U);
}

TEST(JsonLinesTest, ATimeoutLosesNothing) {
  std::binary_semaphore go(0);
  TestServer server({[&](TestPeer& peer) {
    peer.ReadHead();
    peer.Write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\n1\n[2\r\n");
    go.acquire();
    peer.Write("5\r\n,3]\n4\r\n0\r\n\r\n");
  }});
  Client client(server.endpoint());
  auto answer = client.Send({.target = "/"}, Soon());
  ASSERT_TRUE(answer.has_value());
  JsonLines lines(std::move(*answer));
  EXPECT_EQ(**lines.Next(Soon()), 1);
  const auto early = lines.Next(base::Deadline::After(20ms));
  ASSERT_FALSE(early.has_value());
  EXPECT_EQ(early.error().code, base::Code::kTimeout);
  go.release();
  EXPECT_EQ((**lines.Next(Soon())).dump(), "[2,3]");
  EXPECT_EQ(**lines.Next(Soon()), 4);
  EXPECT_FALSE(lines.Next(Soon())->has_value());
}

// The answer has a length: what came of it would look whole.
TEST(JsonLinesTest, AnAnswerThatIsCutIsAnError) {
  TestServer server({[](TestPeer& peer) {
    peer.ReadHead();
    peer.Write("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n1\n2");
  }});
  Client client(server.endpoint());
  auto answer = client.Send({.target = "/"}, Soon());
  ASSERT_TRUE(answer.has_value());
  JsonLines lines(std::move(*answer));
  EXPECT_EQ(**lines.Next(Soon()), 1);
  const auto cut = lines.Next(Soon());
  ASSERT_FALSE(cut.has_value());
  EXPECT_EQ(cut.error().code, base::Code::kUnavailable);
}

}  // namespace
}  // namespace skerry::net
