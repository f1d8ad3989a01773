#include "transport/http/wire.hpp"

#include <gtest/gtest.h>

#include "transport/http/chunks.hpp"

namespace skerry::transport::http {
namespace {

TEST(HeadScannerTest, FindsTheEndHoweverTheBytesCome) {
  const std::string head = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";
  HeadScanner scanner(1000);
  for (std::size_t size = 0; size < head.size(); ++size) EXPECT_EQ(*scanner.Scan(head.substr(0, size)), std::nullopt);
  EXPECT_EQ(*scanner.Scan(head + "body"), head.size());
}

TEST(HeadScannerTest, RefusesAsSoonAsItIsCertain) {
  const auto status = [](std::string_view bytes) {
    const auto result = HeadScanner(100).Scan(bytes);
    return result ? 0 : result.error().status;
  };
  EXPECT_EQ(status("GET / HTTP/1.1\n"), 400);
  EXPECT_EQ(status("\r\n"), 400);
  EXPECT_EQ(status("\n"), 400);
  EXPECT_EQ(status(std::string_view("G\0", 2)), 400);
  EXPECT_EQ(status("GET / HTTP/1.1\r\nA: \x01"), 400);
  EXPECT_EQ(status("GET / HTTP/1.1\r\nA: b\rc"), 400);
  EXPECT_EQ(status("GET /\xc3\xa4"), 400);
  EXPECT_EQ(status("GET / HTTP/1.1\r\nA: \xc3\xa4\tb"), 0) << "not nice, and allowed";
  EXPECT_EQ(status(std::string(101, 'a')), 414);
  EXPECT_EQ(status("GET / HTTP/1.1\r\n" + std::string(100, 'a')), 431);
}

TEST(ParseHeadTest, SplitsTheLineAndTheFields) {
  const auto head = ParseHead("PUT /a?b HTTP/1.0\r\nA:  b \t\r\nC:\r\n\r\n");
  ASSERT_TRUE(head);
  EXPECT_EQ(head->method, "PUT");
  EXPECT_EQ(head->target, "/a?b");
  EXPECT_EQ(head->version, Version::kHttp10);
  EXPECT_EQ(head->headers.Find("a"), "b");
  EXPECT_EQ(head->headers.Find("c"), "");
}

TEST(ParseHeadTest, RefusesWhatCouldBeReadInTwoWays) {
  for (const char* text : {"GET  / HTTP/1.1\r\n\r\n", "GET / a HTTP/1.1\r\n\r\n", "GET / HTTP/1.1 \r\n\r\n",
                           "GET /\r\n\r\n", "G(T / HTTP/1.1\r\n\r\n", "GET / http/1.1\r\n\r\n",
                           "GET / HTTP/1.1\r\nA\r\n\r\n", "GET / HTTP/1.1\r\n A: b\r\n\r\n",
                           "GET / HTTP/1.1\r\nA : b\r\n\r\n", "GET / HTTP/1.1\r\nA: b", "", "\r\n\r\n"}) {
    const auto head = ParseHead(text);
    ASSERT_FALSE(head) << text;
    EXPECT_EQ(head.error().status, 400) << text;
  }
  EXPECT_EQ(ParseHead("GET / HTTP/3.0\r\n\r\n").error().status, 505);
}

Framing Frames(const std::string& fields) {
  return FramingOf(*ParseHead("GET / HTTP/1.1\r\n" + fields + "\r\n")).value_or(Framing{.content_length = 999});
}

TEST(FramingTest, KnowsWhatFollows) {
  EXPECT_FALSE(Frames("").HasBody());
  EXPECT_FALSE(Frames("Content-Length: 0\r\n").HasBody());
  EXPECT_EQ(Frames("Content-Length: 18446744073709551615\r\n").content_length, UINT64_MAX);
  EXPECT_EQ(Frames("Content-Length: 18446744073709551616\r\n").content_length, 999U);
  EXPECT_EQ(Frames("Content-Length: +1\r\n").content_length, 999U);
  EXPECT_EQ(Frames("Content-Length:\r\n").content_length, 999U);
  EXPECT_TRUE(Frames("Transfer-Encoding: Chunked\r\n").chunked);
  EXPECT_FALSE(Frames("Connection: close\r\n").keep_alive);
  EXPECT_FALSE(Frames("Connection: a, Close\r\n").keep_alive);
  EXPECT_TRUE(Frames("Connection: closed\r\n").keep_alive);
}

TEST(FramingTest, AWebSocketNeedsEverythingOfItsHandshake) {
  const std::string key = "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n";
  const std::string upgrade = "Upgrade: websocket\r\n";
  const std::string rest = "Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\n";
  EXPECT_TRUE(Frames(rest + upgrade + key).upgrade);
  EXPECT_FALSE(Frames(rest + key).upgrade);
  EXPECT_FALSE(Frames(rest + upgrade).upgrade);
  EXPECT_FALSE(Frames(rest + upgrade + key + key).upgrade);
  EXPECT_FALSE(Frames(upgrade + key).upgrade);
  EXPECT_FALSE(Frames(rest + upgrade + key + "Content-Length: 1\r\n").upgrade);
}

base::Result<std::string> Decode(std::string_view bytes, std::size_t step) {
  ChunkDecoder decoder;
  std::string content;
  while (!bytes.empty() && !decoder.done()) {
    std::string_view piece = bytes.substr(0, step);
    bytes.remove_prefix(piece.size());
    while (!piece.empty() && !decoder.done()) {
      SKERRY_ASSIGN_OR_RETURN(const auto took, decoder.Decode(piece));
      content += took.content;
      piece.remove_prefix(took.consumed);
    }
  }
  return content + (decoder.done() ? "|done" : "|more");
}

TEST(ChunkDecoderTest, DecodesHoweverTheBytesCome) {
  const std::string bytes = "5\r\nhello\r\nA;x=\"y\"\r\n 123456789\r\n0\r\nX: y\r\n\r\nnext";
  for (std::size_t step = 1; step <= bytes.size(); ++step) EXPECT_EQ(*Decode(bytes, step), "hello 123456789|done");
  EXPECT_EQ(*Decode("5\r\nhel", 100), "hel|more");
}

TEST(ChunkDecoderTest, RefusesWhatIsNoChunk) {
  for (const char* bytes : {"\r\n", "g\r\n", "0x1\r\n", "-1\r\n", " 1\r\n", "1 \r\n", "1\n", "fffffffffffffffff\r\n",
                            "1\r\nab\r\n", "0\r\nno trailer\r\n", "1;a\rb\r\n"})
    EXPECT_FALSE(Decode(bytes, 100)) << bytes;
  EXPECT_FALSE(Decode("1;" + std::string(5000, 'a'), 100));
  EXPECT_FALSE(Decode("0\r\n" + std::string(5000, 'a'), 100));
}

}  // namespace
}  // namespace skerry::transport::http
