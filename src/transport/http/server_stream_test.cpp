// Answers that take their time: streams and WebSockets.
#include <sys/socket.h>

#include <chrono>
#include <thread>

#include <gmock/gmock.h>

#include "transport/http/test_server.hpp"

namespace skerry::transport::http {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::HasSubstr;

TEST_F(ServerTest, AStreamGoesOutInChunksAsItComes) {
  Start();
  auto client = Unix();
  client.Send(Get("/stream"));
  ASSERT_TRUE(Eventually([&] { return tap->begun.load(); }));
  std::string head;
  while (!head.ends_with("\r\n\r\n")) head += client.Read(1);
  tap->Say("one");
  EXPECT_EQ(client.Read(8), "3\r\none\r\n");
  tap->Say("four");
  EXPECT_EQ(client.Read(9), "4\r\nfour\r\n");
}

TEST_F(ServerTest, WhoHasTheHeadOfAStreamMissesNothing) {
  tap->before_begun = milliseconds(50);
  Start();
  auto client = Unix();
  client.Send(Get("/stream"));
  EXPECT_EQ(client.Read(1), "H");
  EXPECT_TRUE(tap->begun);
}

TEST_F(ServerTest, AStreamEndsAndTheConnectionGoesOn) {
  Start();
  auto client = Unix();
  client.Send(Get("/stream"));
  ASSERT_TRUE(Eventually([&] { return tap->begun.load(); }));
  tap->Say("one ");
  std::this_thread::sleep_for(milliseconds(20));
  tap->Say("two");
  tap->End();
  const Answer answer = client.Receive();
  EXPECT_EQ(answer.Find("Transfer-Encoding"), "chunked");
  EXPECT_EQ(answer.body, "one two");
  EXPECT_EQ(client.Ask(Get("/hello")).body, "hello");
  EXPECT_TRUE(tap->destroyed);
}

TEST_F(ServerTest, AStreamToAnOldClientEndsWithTheConnection) {
  Start();
  auto client = Unix();
  client.Send("GET /stream HTTP/1.0\r\n\r\n");
  ASSERT_TRUE(Eventually([&] { return tap->begun.load(); }));
  tap->Say("text");
  tap->End();
  const Answer answer = client.Receive();
  EXPECT_FALSE(answer.Find("Transfer-Encoding"));
  EXPECT_EQ(answer.body, "text");
}

TEST_F(ServerTest, AStreamWhoseClientLeavesIsDestroyedAndMayStillBeWoken) {
  Start();
  auto client = Unix();
  client.Send(Get("/stream"));
  ASSERT_TRUE(Eventually([&] { return tap->begun.load(); }));
  client.Close();
  EXPECT_TRUE(Eventually([&] { return tap->destroyed.load(); }));
  tap->wake();
  EXPECT_EQ(Unix().Ask(Get("/hello")).status, 200);
  server.reset();
  tap->wake();
}

TEST_F(ServerTest, AClientThatDoesNotReadStopsItsStreamAndNobodyElse) {
  options.limits.write_time = milliseconds(700);
  Start();
  auto client = Unix();
  client.Send(Get("/endless"));
  ASSERT_TRUE(Eventually([&] { return tap->begun.load(); }));
  std::this_thread::sleep_for(milliseconds(200));
  const std::uint64_t pulled = tap->pulled;
  EXPECT_LT(pulled, std::uint64_t{4} << 20U);
  EXPECT_EQ(Unix().Ask(Get("/hello")).status, 200);
  std::this_thread::sleep_for(milliseconds(100));
  EXPECT_EQ(tap->pulled, pulled);
  EXPECT_TRUE(Eventually([&] { return tap->destroyed.load(); })) << "the deadline of writing";
}

TEST_F(ServerTest, AStreamEndsWithTheTokenThatOpenedIt) {
  Start();
  auto client = Tcp();
  client.Send(Get("/stream", "Authorization: Bearer reader\r\n"));
  ASSERT_TRUE(Eventually([&] { return tap->begun.load(); }));
  auto owner = Unix();
  tap->Say("one");
  tap->revoked = true;
  const Answer answer = client.Receive();
  EXPECT_EQ(answer.body, "one") << "it ends as it should, and is not cut";
  EXPECT_TRUE(Eventually([&] { return tap->destroyed.load(); }));
  EXPECT_EQ(owner.Ask(Get("/hello")).status, 200);
}

TEST_F(ServerTest, HeadDoesNotBeginAStream) {
  Start();
  auto client = Unix();
  client.Send("HEAD /stream HTTP/1.1\r\nHost: localhost\r\n\r\n");
  EXPECT_EQ(client.Receive(TestClient::Expect::kNoBody).status, 200);
  EXPECT_EQ(client.Ask(Get("/hello")).body, "hello");
  EXPECT_FALSE(tap->begun);
}

constexpr std::string_view kUpgrade =
    "Connection: keep-alive, Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n";

enum Opcode : unsigned char { kText = 1, kBinary = 2, kClose = 8, kPing = 9, kPong = 10 };

// A frame of a short message; its mask is zero, which is valid too.
std::string Frame(Opcode opcode, std::string_view bytes) {
  std::string frame(1, static_cast<char>(0x80U | opcode));
  if (bytes.size() < 126) {
    frame += static_cast<char>(0x80U | bytes.size());
  } else {
    frame += static_cast<char>(0x80U | 126U);
    frame += static_cast<char>(bytes.size() >> 8U);
    frame += static_cast<char>(bytes.size() & 0xffU);
  }
  return frame + std::string(4, '\0') + std::string(bytes);
}

struct Received {
  int opcode = 0;
  std::string bytes;
};

Received ReceiveFrame(TestClient& client) {
  const std::string head = client.Read(2);
  if (head.size() < 2) return {};
  std::size_t size = static_cast<unsigned char>(head[1]);
  if (size == 126) {
    const std::string more = client.Read(2);
    size =
        static_cast<std::size_t>(static_cast<unsigned char>(more.at(0))) * 256 + static_cast<unsigned char>(more.at(1));
  }
  return {.opcode = head[0] & 0x0f, .bytes = client.Read(size)};
}

class WebSocketTest : public ServerTest {
 protected:
  TestClient Open() { return Open(Unix(), ""); }
  TestClient OpenAs(std::string_view token) {
    return Open(Tcp(), "Authorization: Bearer " + std::string(token) + "\r\n");
  }
  TestClient Open(TestClient client, const std::string& who) {
    const Answer answer = client.Ask(Get("/echo", who + std::string(kUpgrade)));
    EXPECT_EQ(answer.status, 101) << answer.head;
    EXPECT_EQ(answer.Find("Sec-WebSocket-Accept"), "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
    EXPECT_TRUE(answer.Find("X-Request-Id"));
    EXPECT_THAT(answer.head, testing::Not(HasSubstr("Beast")));
    EXPECT_TRUE(tap->begun);
    return client;
  }
};

TEST_F(WebSocketTest, WhoHasTheAnswerToTheHandshakeMissesNothing) {
  tap->before_begun = milliseconds(50);
  Start();
  (void)Open();
}

TEST_F(WebSocketTest, CarriesMessagesBothWays) {
  Start();
  auto client = Open();
  client.Send(Frame(kText, "hello"));
  const Received text = ReceiveFrame(client);
  EXPECT_EQ(text.opcode, kText);
  EXPECT_EQ(text.bytes, "hello");
  client.Send(Frame(kBinary, std::string("\0\xff", 2)));
  const Received binary = ReceiveFrame(client);
  EXPECT_EQ(binary.opcode, kBinary);
  EXPECT_EQ(binary.bytes, std::string("\0\xff", 2));
  client.Send(Frame(kPing, "p"));
  EXPECT_EQ(ReceiveFrame(client).opcode, kPong);
}

TEST_F(WebSocketTest, EndsWithAFarewellFromEitherSide) {
  Start();
  auto client = Open();
  client.Send(Frame(kText, "bye"));
  const Received close = ReceiveFrame(client);
  EXPECT_EQ(close.opcode, kClose);
  EXPECT_EQ(close.bytes, std::string("\x03\xe8", 2)) << "1000";
  client.Send(Frame(kClose, close.bytes));
  EXPECT_TRUE(client.Ends(seconds(1)));
  client.Close();
  EXPECT_TRUE(Eventually([&] { return tap->destroyed.load(); }));
  EXPECT_FALSE(tap->closed);

  tap->destroyed = false;
  auto other = Open();
  other.Send(Frame(kClose, std::string("\x03\xe8", 2)));
  EXPECT_EQ(ReceiveFrame(other).opcode, kClose);
  other.Close();
  EXPECT_TRUE(Eventually([&] { return tap->closed && tap->destroyed; }));
}

TEST_F(WebSocketTest, AClientThatDoesNotAnswerTheFarewellIsLeft) {
  Start();
  auto client = Open();
  client.Send(Frame(kText, "bye"));
  EXPECT_TRUE(client.Ends(seconds(4)));
  EXPECT_TRUE(Eventually([&] { return server->Now().connections == 0; }));
}

TEST_F(WebSocketTest, EndsWithTheTokenThatOpenedIt) {
  Start();
  auto client = OpenAs("reader");
  tap->revoked = true;
  EXPECT_EQ(ReceiveFrame(client).opcode, kClose);
  client.Send(Frame(kClose, std::string("\x03\xe8", 2)));
  EXPECT_TRUE(client.Ends(seconds(1)));
  EXPECT_TRUE(Eventually([&] { return tap->destroyed.load(); }));
}

TEST_F(WebSocketTest, AClientThatIsGoneEndsTheConversation) {
  Start();
  auto client = Open();
  client.Close();
  EXPECT_TRUE(Eventually([&] { return tap->closed && tap->destroyed; }));
  tap->wake();
}

TEST_F(WebSocketTest, MessagesThatThereIsNoRoomForComeAgain) {
  Start();
  tap->has_room = false;
  auto client = Open();
  client.Send(Frame(kText, "first"));
  client.Send(Frame(kText, "second"));
  std::this_thread::sleep_for(milliseconds(100));
  EXPECT_EQ(tap->received, 0);
  tap->has_room = true;
  tap->wake();
  EXPECT_EQ(ReceiveFrame(client).bytes, "first");
  EXPECT_EQ(ReceiveFrame(client).bytes, "second");
}

TEST_F(WebSocketTest, MessagesHaveALimitAndTextIsText) {
  options.limits.websocket_message = 1000;
  Start();
  auto client = Open();
  client.Send(Frame(kText, std::string(1001, 'x')));
  EXPECT_EQ(ReceiveFrame(client).bytes.substr(0, 2), std::string("\x03\xf1", 2)) << "1009";
  client.Close();
  auto other = Open();
  other.Send(Frame(kText, "\xff\xfe"));
  EXPECT_EQ(ReceiveFrame(other).bytes.substr(0, 2), std::string("\x03\xef", 2)) << "1007";
}

TEST_F(WebSocketTest, WordsAreShortAndDataMayBeLong) {
  options.limits.websocket_text = 1000;
  Start();
  auto client = Open();
  client.Send(Frame(kBinary, std::string(1001, 'x')));
  EXPECT_EQ(ReceiveFrame(client).bytes.size(), 1001U);
  client.Send(Frame(kText, std::string(1001, 'x')));
  EXPECT_EQ(ReceiveFrame(client).bytes.substr(0, 2), std::string("\x03\xf1", 2)) << "1009";
  client.Send(Frame(kClose, std::string("\x03\xf1", 2)));
  EXPECT_TRUE(client.Ends(seconds(1)));
  EXPECT_TRUE(Eventually([&] { return tap->destroyed.load(); }));
  EXPECT_EQ(tap->received, 1);
}

// Each message costs 16 KB besides its bytes, when it is received and when it is sent back.
TEST_F(WebSocketTest, TheMessagesOfATenantHaveAShareWhateverSocketTheyComeBy) {
  options.limits.flow = {.per_second = 1, .at_once = 70 << 10U, .longest_wait = seconds(1000)};
  Start();
  auto one = OpenAs("reader");
  auto two = OpenAs("reader");
  for (auto* client : {&one, &two})
    for (int at = 0; at < 50; ++at) client->Send(Frame(kText, "x"));
  ASSERT_TRUE(Eventually([&] { return tap->received >= 2; }));
  std::this_thread::sleep_for(milliseconds(100));
  EXPECT_LE(tap->received, 4);
  auto other = OpenAs("often");
  other.Send(Frame(kText, "other"));
  EXPECT_EQ(ReceiveFrame(other).bytes, "other");
  auto owner = Open();
  for (int at = 0; at < 50; ++at) {
    owner.Send(Frame(kText, "owner"));
    EXPECT_EQ(ReceiveFrame(owner).bytes, "owner");
  }
}

TEST_F(WebSocketTest, WhoPingsWithoutEndIsLeft) {
  options.limits.flow = {.per_second = 16 << 10U, .at_once = 16 << 10U, .longest_wait = seconds(10)};
  Start();
  auto client = OpenAs("reader");
  for (int at = 0; at < 5; ++at) client.Send(Frame(kPing, "p"));
  EXPECT_TRUE(client.Ends(seconds(5)));
}

TEST_F(WebSocketTest, TheEndOfTheServerEndsConversationsThatWaitForTheirTurn) {
  options.limits.flow = {.per_second = 1, .at_once = 1, .longest_wait = seconds(1000)};
  Start();
  auto client = OpenAs("reader");
  client.Send(Frame(kText, "x"));
  std::this_thread::sleep_for(milliseconds(50));
  server.reset();
  EXPECT_EQ(tap->received, 0);
  EXPECT_TRUE(tap->destroyed);
}

TEST_F(WebSocketTest, IsRefusedBeforeItsHandshake) {
  Start();
  const std::string upgrade(kUpgrade);
  EXPECT_EQ(Unix().Ask(Get("/echo", upgrade + "Origin: https://evil.example\r\n")).status, 403);
  EXPECT_EQ(Tcp().Ask(Get("/echo", upgrade)).status, 401);
  EXPECT_FALSE(tap->begun);
}

TEST_F(WebSocketTest, AnOrdinaryRequestIsToldToUpgrade) {
  Start();
  auto client = Unix();
  const Answer answer = client.Ask(Get("/echo"));
  EXPECT_EQ(answer.status, 426);
  EXPECT_EQ(answer.Find("Upgrade"), "websocket");
  EXPECT_EQ(client.Ask(Get("/hello")).status, 200);
}

TEST_F(WebSocketTest, AnUpgradeOfAnOrdinaryRouteGetsItsAnswer) {
  Start();
  EXPECT_EQ(Unix().Ask(Get("/hello", kUpgrade)).body, "hello");
}

TEST_F(WebSocketTest, TheEndOfTheServerEndsConversationsThatHaveNoRoom) {
  Start();
  tap->has_room = false;
  auto client = Open();
  client.Send(Frame(kText, "stuck"));
  std::this_thread::sleep_for(milliseconds(50));
  const auto begun = std::chrono::steady_clock::now();
  server.reset();
  EXPECT_LT(std::chrono::steady_clock::now() - begun, seconds(3));
  EXPECT_TRUE(tap->closed);
}

}  // namespace
}  // namespace skerry::transport::http
