#include <poll.h>

#include <array>
#include <atomic>
#include <thread>

#include <gtest/gtest.h>
#include <openssl/evp.h>
#include <openssl/sha.h>

#include "net/client.hpp"
#include "net/test_server.hpp"
#include "net/test_tls.hpp"

namespace skerry::net {
namespace {

using namespace std::chrono_literals;
using Kind = WebSocket::Kind;

base::Deadline Soon() {
  return base::Deadline::After(10s);
}

enum Opcode : unsigned { kTextFrame = 1, kBinaryFrame = 2, kCloseFrame = 8, kPingFrame = 9 };

std::string AcceptOf(const std::string& head) {
  constexpr std::string_view kName = "Sec-WebSocket-Key: ";
  const std::size_t at = head.find(kName);
  if (at == std::string::npos) return "";
  const std::size_t begin = at + kName.size();
  const std::string text = head.substr(begin, head.find('\r', begin) - begin) + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
  std::array<unsigned char, SHA_DIGEST_LENGTH> digest{};
  unsigned size = 0;
  EVP_Digest(text.data(), text.size(), digest.data(), &size, EVP_sha1(), nullptr);
  std::array<unsigned char, 64> encoded{};
  const int length = EVP_EncodeBlock(encoded.data(), digest.data(), static_cast<int>(size));
  return {encoded.begin(), encoded.begin() + length};
}

std::string AcceptanceOf(const std::string& head, const std::string& more = "") {
  return "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: " +
         AcceptOf(head) + "\r\n" + more + "\r\n";
}

void Accept(TestPeer& peer, std::string* seen = nullptr, const std::string& more = "") {
  const std::string head = peer.ReadHead();
  if (seen != nullptr) *seen = head;
  peer.Write(AcceptanceOf(head, more));
}

// Of a server: not masked, and short.
std::string FrameOf(unsigned opcode, const std::string& bytes, unsigned final_bit = 0x80) {
  return std::string{static_cast<char>(opcode | final_bit), static_cast<char>(bytes.size())} + bytes;
}

// The same with up to 65,535 bytes.
std::string LongFrameOf(unsigned opcode, const std::string& bytes) {
  return std::string{static_cast<char>(opcode | 0x80U), 126, static_cast<char>(bytes.size() >> 8U),
                     static_cast<char>(bytes.size() & 0xFFU)} +
         bytes;
}

struct Frame {
  unsigned opcode = 0;
  std::string bytes;
  bool last = true;  // of its message
};

// Of a client: masked.
Frame ReadFrame(TestPeer& peer) {
  const std::string begin = peer.Read(2);
  if (begin.size() < 2) return {};
  std::size_t size = static_cast<unsigned char>(begin[1]) & 0x7FU;
  if (size == 126) {
    const std::string more = peer.Read(2);
    size = static_cast<unsigned char>(more[0]) * 256U + static_cast<unsigned char>(more[1]);
  }
  const std::string mask = peer.Read(4);
  Frame frame{.opcode = static_cast<unsigned char>(begin[0]) & 0x0FU, .bytes = peer.Read(size)};
  frame.last = (static_cast<unsigned char>(begin[0]) & 0x80U) != 0;
  for (std::size_t i = 0; i < frame.bytes.size(); ++i) frame.bytes[i] = static_cast<char>(frame.bytes[i] ^ mask[i % 4]);
  return frame;
}

void Echo(TestPeer& peer) {
  Accept(peer);
  for (;;) {
    const Frame frame = ReadFrame(peer);
    if (frame.opcode == 0) return;
    peer.Write(FrameOf(frame.opcode, frame.bytes));
    if (frame.opcode == kCloseFrame) return;
  }
}

TEST(WebSocketTest, SendsAndReceivesTextAndBytes) {
  TestServer server({Echo});
  Client client(server.endpoint());
  auto socket = client.Connect({.target = "/v1/attach?offset=0"}, Soon());
  ASSERT_TRUE(socket.has_value()) << socket.error().message;
  ASSERT_TRUE(socket->Send(Kind::kText, "{}", Soon()).has_value());
  auto message = socket->Receive(Soon());
  ASSERT_TRUE(message.has_value()) << message.error().message;
  EXPECT_EQ(message->kind, Kind::kText);
  EXPECT_EQ(message->bytes, "{}");
  const std::string bytes("\0\xFF\x01", 3);
  ASSERT_TRUE(socket->Send(Kind::kBinary, bytes, Soon()).has_value());
  message = socket->Receive(Soon());
  ASSERT_TRUE(message.has_value());
  EXPECT_EQ(message->kind, Kind::kBinary);
  EXPECT_EQ(message->bytes, bytes);
  socket->Close();
}

TEST(WebSocketTest, SaysWhoAsks) {
  std::string head;
  TestServer server({[&](TestPeer& peer) { Accept(peer, &head); }});
  Endpoint endpoint = server.endpoint();
  endpoint.token = "sk_abc";
  Client client(endpoint);
  ASSERT_TRUE(client.Connect({.target = "/v1/attach?offset=7"}, Soon()).has_value());
  EXPECT_TRUE(head.starts_with("GET /v1/attach?offset=7 HTTP/1.1\r\n")) << head;
  EXPECT_TRUE(head.contains("Host: localhost\r\n")) << head;
  EXPECT_TRUE(head.contains("Authorization: Bearer sk_abc\r\n")) << head;
  EXPECT_TRUE(head.contains("User-Agent: skerry/")) << head;
}

TEST(WebSocketTest, OffersSubprotocolsAndSendsHeaders) {
  std::string head;
  TestServer server({[&](TestPeer& peer) { Accept(peer, &head, "Sec-WebSocket-Protocol: v4.channel.k8s.io\r\n"); }});
  Client client(server.endpoint());
  const auto socket = client.Connect({.target = "/",
                                      .headers = {{"X-Api-Key", "one"}, {"X-Api-Key", "two"}},
                                      .subprotocols = {"v5.channel.k8s.io", "v4.channel.k8s.io"}},
                                     Soon());
  ASSERT_TRUE(socket.has_value()) << socket.error().message;
  EXPECT_EQ(socket->subprotocol(), "v4.channel.k8s.io");
  EXPECT_TRUE(head.contains("Sec-WebSocket-Protocol: v5.channel.k8s.io, v4.channel.k8s.io\r\n")) << head;
  EXPECT_TRUE(head.contains("X-Api-Key: one\r\n")) << head;
  EXPECT_TRUE(head.contains("X-Api-Key: two\r\n")) << head;
}

TEST(WebSocketTest, AServerMayChooseNoSubprotocol) {
  TestServer server({[](TestPeer& peer) { Accept(peer); }});
  Client client(server.endpoint());
  const auto socket = client.Connect({.target = "/", .subprotocols = {"a"}}, Soon());
  ASSERT_TRUE(socket.has_value()) << socket.error().message;
  EXPECT_EQ(socket->subprotocol(), "");
}

TEST(WebSocketTest, ASubprotocolThatWasNotOfferedIsRefused) {
  TestServer server({[](TestPeer& peer) { Accept(peer, nullptr, "Sec-WebSocket-Protocol: b\r\n"); }});
  Client client(server.endpoint());
  const auto socket = client.Connect({.target = "/", .subprotocols = {"a"}}, Soon());
  ASSERT_FALSE(socket.has_value());
  EXPECT_EQ(socket.error().code, base::Code::kUnavailable);
}

TEST(WebSocketTest, RefusesWhatWouldBeAnotherRequest) {
  Client client(Endpoint{.path = "/nowhere"});
  for (const WebSocketRequest& request :
       {WebSocketRequest{.target = "/a b"}, WebSocketRequest{.target = "/", .headers = {{"A", "b\r\nC: d"}}},
        WebSocketRequest{.target = "/", .headers = {{"Upgrade", "tcp"}}},
        WebSocketRequest{.target = "/", .headers = {{"sec-websocket-key", "x"}}},
        WebSocketRequest{.target = "/", .subprotocols = {"a, b"}},
        WebSocketRequest{.target = "/", .subprotocols = {""}}}) {
    const auto socket = client.Connect(request, Soon());
    ASSERT_FALSE(socket.has_value());
    EXPECT_EQ(socket.error().code, base::Code::kInvalidArgument) << socket.error().message;
  }
}

// Over each kind of socket: many messages, some of them large.
class WebSocketKindTest : public testing::TestWithParam<Endpoint::Kind> {};

INSTANTIATE_TEST_SUITE_P(Sockets, WebSocketKindTest, testing::Values(Endpoint::Kind::kUnix, Endpoint::Kind::kPlain));

TEST_P(WebSocketKindTest, EchoesLargeMessages) {
  TestServer server({[](TestPeer& peer) {
                      Accept(peer);
                      for (Frame frame = ReadFrame(peer); frame.opcode == kBinaryFrame; frame = ReadFrame(peer)) {
                        std::string message = frame.bytes;
                        while (!frame.last) message += (frame = ReadFrame(peer)).bytes;
                        peer.Write(LongFrameOf(kBinaryFrame, message));
                      }
                    }},
                    GetParam());
  Client client(server.endpoint());
  auto socket = client.Connect({.target = "/"}, Soon());
  ASSERT_TRUE(socket.has_value()) << socket.error().message;
  for (const std::size_t size : {std::size_t{200}, std::size_t{30'000}, std::size_t{65'000}}) {
    std::string sent(size, '\0');
    for (std::size_t i = 0; i < size; ++i) sent[i] = static_cast<char>(i * 31 / 7);
    ASSERT_TRUE(socket->Send(Kind::kBinary, sent, Soon()).has_value());
    const auto message = socket->Receive(Soon());
    ASSERT_TRUE(message.has_value()) << message.error().message;
    EXPECT_TRUE(message->bytes == sent) << size;
  }
}

TEST(WebSocketTlsTest, SendsAndReceives) {
  const TestTls tls("DNS:localhost");
  TestServer server({[&](TestPeer& peer) {
                      const Tls session = tls.Accept(peer);
                      if (!session) return;
                      Write(session.get(), AcceptanceOf(ReadHead(session.get())));
                      Write(session.get(), FrameOf(kTextFrame, "one") + FrameOf(kTextFrame, "two"));
                      // Masked with something else each time: only its size is known.
                      Write(session.get(), FrameOf(kTextFrame, std::to_string(Read(session.get()).size())));
                      Read(session.get());
                    }},
                    Endpoint::Kind::kTls);
  Endpoint endpoint = server.endpoint();
  endpoint.certificates = tls.file();
  Client client(endpoint);
  auto socket = client.Connect({.target = "/"}, Soon());
  ASSERT_TRUE(socket.has_value()) << socket.error().message;
  EXPECT_EQ(socket->Receive(Soon())->bytes, "one");
  EXPECT_EQ(socket->Receive(Soon())->bytes, "two");
  EXPECT_EQ(socket->Receive(base::Deadline::After(20ms)).error().code, base::Code::kTimeout);
  ASSERT_TRUE(socket->Send(Kind::kText, "hello", Soon()).has_value());
  EXPECT_EQ(socket->Receive(Soon())->bytes, std::to_string(2 + 4 + 5));
}

TEST(WebSocketTest, ARequestToStopEndsReceivingAndLosesNothing) {
  TestServer server({[](TestPeer& peer) {
    Accept(peer);
    peer.Write(FrameOf(kTextFrame, "hello").substr(0, 4));
    ReadFrame(peer);
    peer.Write(FrameOf(kTextFrame, "hello").substr(4));
    peer.AwaitClose();
  }});
  Client client(server.endpoint());
  auto socket = client.Connect({.target = "/"}, Soon());
  ASSERT_TRUE(socket.has_value());
  std::stop_source source;
  const std::jthread stopper([&] {
    std::this_thread::sleep_for(30ms);
    source.request_stop();
  });
  for (int i = 0; i < 2; ++i) {
    const auto early = socket->Receive(base::Deadline::Never(), source.get_token());
    ASSERT_FALSE(early.has_value());
    EXPECT_EQ(early.error().code, base::Code::kTimeout);
  }
  ASSERT_TRUE(socket->Send(Kind::kText, "go on", Soon()).has_value());
  EXPECT_EQ(socket->Receive(Soon())->bytes, "hello");
}

TEST(WebSocketTest, ARequestToStopEndsSending) {
  std::atomic<bool> over = false;
  TestServer server({[&](TestPeer& peer) {
    Accept(peer);
    while (!over) std::this_thread::sleep_for(5ms);
  }});
  Client client(server.endpoint());
  auto socket = client.Connect({.target = "/"}, Soon());
  ASSERT_TRUE(socket.has_value());
  std::stop_source source;
  const std::jthread stopper([&] {
    std::this_thread::sleep_for(30ms);
    source.request_stop();
  });
  const std::string everything(std::size_t{8} << 20U, 'x');
  const auto sent = socket->Send(Kind::kBinary, everything, base::Deadline::Never(), source.get_token());
  over = true;
  ASSERT_FALSE(sent.has_value());
  EXPECT_EQ(sent.error().code, base::Code::kTimeout);
  EXPECT_FALSE(socket->Receive(Soon()).has_value());
}

TEST(WebSocketTest, ARefusalIsTheErrorThatTheServerTells) {
  const std::string body = R"({"code":"not_found","message":"no such command","detail":null,"request_id":"req1"})";
  TestServer server({[&](TestPeer& peer) {
    peer.ReadHead();
    peer.Write("HTTP/1.1 404 Not Found\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body);
  }});
  Client client(server.endpoint());
  const auto socket = client.Connect({.target = "/"}, Soon());
  ASSERT_FALSE(socket.has_value());
  EXPECT_EQ(socket.error().code, base::Code::kNotFound);
  EXPECT_EQ(socket.error().message, "no such command");
}

TEST(WebSocketTest, AServerThatDoesNotProveItselfIsRefused) {
  TestServer server({[](TestPeer& peer) {
    peer.ReadHead();
    peer.Write(
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        "Sec-WebSocket-Accept: AAAAAAAAAAAAAAAAAAAAAAAAAAA=\r\n\r\n");
  }});
  Client client(server.endpoint());
  const auto socket = client.Connect({.target = "/"}, Soon());
  ASSERT_FALSE(socket.has_value());
}

TEST(WebSocketTest, AHandshakeWithoutEndIsAnError) {
  TestServer server({[](TestPeer& peer) {
    peer.ReadHead();
    peer.Write("HTTP/1.1 101 Switching Protocols\r\n");
    for (int i = 0; i < 300; ++i) {
      std::this_thread::sleep_for(100us);
      peer.Write("X-" + std::to_string(i) + ": " + std::string(4000, 'x') + "\r\n");
    }
    peer.AwaitClose();
  }});
  Client client(server.endpoint());
  const auto socket = client.Connect({.target = "/"}, Soon());
  ASSERT_FALSE(socket.has_value());
  EXPECT_EQ(socket.error().code, base::Code::kUnavailable);
}

TEST(WebSocketTest, ASilentServerIsATimeout) {
  TestServer server({[](TestPeer& peer) { peer.AwaitClose(); }});
  Client client(server.endpoint());
  const auto socket = client.Connect({.target = "/"}, base::Deadline::After(50ms));
  ASSERT_FALSE(socket.has_value());
  EXPECT_EQ(socket.error().code, base::Code::kTimeout);
}

TEST(WebSocketTest, ATimeoutLosesNothing) {
  TestServer server({[](TestPeer& peer) {
    Accept(peer);
    peer.Write(FrameOf(kTextFrame, "hello").substr(0, 4));
    ReadFrame(peer);
    peer.Write(FrameOf(kTextFrame, "hello").substr(4));
    peer.AwaitClose();
  }});
  Client client(server.endpoint());
  auto socket = client.Connect({.target = "/"}, Soon());
  ASSERT_TRUE(socket.has_value());
  const auto early = socket->Receive(base::Deadline::After(50ms));
  ASSERT_FALSE(early.has_value());
  EXPECT_EQ(early.error().code, base::Code::kTimeout);
  ASSERT_TRUE(socket->Send(Kind::kText, "go on", Soon()).has_value());
  EXPECT_EQ(socket->Receive(Soon())->bytes, "hello");
}

TEST(WebSocketTest, TellsOfMessagesThatPollDoesNotSee) {
  TestServer server({[](TestPeer& peer) {
    Accept(peer);
    peer.Write(FrameOf(kTextFrame, "one") + FrameOf(kTextFrame, "two") + FrameOf(kTextFrame, "three"));
    peer.AwaitClose();
  }});
  Client client(server.endpoint());
  auto socket = client.Connect({.target = "/"}, Soon());
  ASSERT_TRUE(socket.has_value());
  std::vector<std::string> received;
  while (received.size() < 3) {
    pollfd entry{socket->fd(), POLLIN, 0};
    if (!socket->HasBuffered()) {
      ASSERT_EQ(::poll(&entry, 1, 10'000), 1) << "after " << received.size();
    }
    const auto message = socket->Receive(base::Deadline::After(1s));
    ASSERT_TRUE(message.has_value()) << message.error().message;
    received.push_back(message->bytes);
  }
  EXPECT_EQ(received, (std::vector<std::string>{"one", "two", "three"}));
  EXPECT_FALSE(socket->HasBuffered());
}

TEST(WebSocketTest, WithoutPatienceWhatHasComeIsTaken) {
  TestServer server({[](TestPeer& peer) {
    Accept(peer);
    peer.Write(FrameOf(kTextFrame, "now"));
  }});
  Client client(server.endpoint());
  auto socket = client.Connect({.target = "/"}, Soon());
  ASSERT_TRUE(socket);
  const auto wait = [&] {
    pollfd entry{socket->fd(), POLLIN, 0};
    return socket->HasBuffered() || ::poll(&entry, 1, 10'000) == 1;
  };
  const auto at_once = [&] {
    auto received = socket->Receive(base::Deadline::After(0s));
    for (int tries = 0; tries < 100 && !received && received.error().code == base::Code::kTimeout && wait(); ++tries)
      received = socket->Receive(base::Deadline::After(0s));
    return received;
  };
  const auto message = at_once();
  ASSERT_TRUE(message);
  EXPECT_EQ(message->bytes, "now");
  // Nor is the end missed.
  const auto end = at_once();
  ASSERT_FALSE(end);
  EXPECT_EQ(end.error().code, base::Code::kUnavailable);
}

TEST(WebSocketTest, JoinsFragmentsAndAnswersPings) {
  TestServer server({[](TestPeer& peer) {
    Accept(peer);
    peer.Write(FrameOf(kBinaryFrame, "a", 0) + FrameOf(kPingFrame, "ping") + FrameOf(0, "b"));
    const Frame pong = ReadFrame(peer);
    peer.Write(FrameOf(kTextFrame, std::to_string(pong.opcode) + " " + pong.bytes));
    peer.AwaitClose();
  }});
  Client client(server.endpoint());
  auto socket = client.Connect({.target = "/"}, Soon());
  ASSERT_TRUE(socket.has_value());
  EXPECT_EQ(socket->Receive(Soon())->bytes, "ab");
  EXPECT_EQ(socket->Receive(Soon())->bytes, "10 ping");
}

TEST(WebSocketTest, AnEndSaysWhy) {
  TestServer server({[](TestPeer& peer) {
    Accept(peer);
    peer.Write(FrameOf(kTextFrame, "last") + FrameOf(kCloseFrame, std::string("\x03\xE8", 2) + "over"));
    peer.AwaitClose();
  }});
  Client client(server.endpoint());
  auto socket = client.Connect({.target = "/"}, Soon());
  ASSERT_TRUE(socket.has_value());
  EXPECT_EQ(socket->Receive(Soon())->bytes, "last");
  for (int i = 0; i < 2; ++i) {
    const auto end = socket->Receive(Soon());
    ASSERT_TRUE(end.has_value()) << end.error().message;
    EXPECT_EQ(end->kind, Kind::kClosed);
    EXPECT_EQ(end->bytes, "over");
  }
  EXPECT_EQ(socket->Send(Kind::kText, "x", Soon()).error().code, base::Code::kUnavailable);
}

TEST(WebSocketTest, AConnectionThatIsJustGoneIsAnError) {
  TestServer server({[](TestPeer& peer) {
    Accept(peer);
    peer.Write(FrameOf(kTextFrame, "hello").substr(0, 4));
  }});
  Client client(server.endpoint());
  auto socket = client.Connect({.target = "/"}, Soon());
  ASSERT_TRUE(socket.has_value());
  const auto message = socket->Receive(Soon());
  ASSERT_FALSE(message.has_value());
  EXPECT_EQ(message.error().code, base::Code::kUnavailable);
}

TEST(WebSocketTest, SendGivesUpOnAServerThatDoesNotRead) {
  std::string everything(std::size_t{8} << 20U, 'x');
  std::atomic<bool> over = false;
  TestServer server({[&](TestPeer& peer) {
    Accept(peer);
    while (!over) std::this_thread::sleep_for(5ms);
  }});
  Client client(server.endpoint());
  auto socket = client.Connect({.target = "/"}, Soon());
  ASSERT_TRUE(socket.has_value());
  const auto sent = socket->Send(Kind::kBinary, everything, base::Deadline::After(100ms));
  over = true;
  ASSERT_FALSE(sent.has_value());
  EXPECT_EQ(sent.error().code, base::Code::kTimeout);
  EXPECT_FALSE(socket->Receive(Soon()).has_value());
}

TEST(WebSocketTest, CloseDoesNotWaitForEver) {
  TestServer server({[](TestPeer& peer) {
    Accept(peer);
    peer.AwaitClose();
  }});
  Client client(server.endpoint());
  auto socket = client.Connect({.target = "/"}, Soon());
  ASSERT_TRUE(socket.has_value());
  const auto begin = std::chrono::steady_clock::now();
  socket->Close();
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 8s);
}

}  // namespace
}  // namespace skerry::net
