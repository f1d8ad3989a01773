#include <signal.h>
#include <sys/stat.h>

#include <chrono>
#include <cstdlib>
#include <memory>

#include <openssl/ssl.h>

#include "transport/http/test_program.hpp"
#include "transport/http/test_server.hpp"

namespace skerry::transport::http {
namespace {

const std::string kToken = "Authorization: Bearer reader\r\n";

struct FreeTls {
  void operator()(SSL_CTX* context) const { ::SSL_CTX_free(context); }
  void operator()(SSL* tls) const { ::SSL_free(tls); }
};

class TlsTest : public ServerTest {
 protected:
  void SetUp() override {
    if (std::system("openssl version > /dev/null 2>&1") != 0) GTEST_SKIP() << "there is no openssl program";
    files_ = {.certificate = directory.path() / "cert.pem", .key = directory.path() / "key.pem"};
    ASSERT_TRUE(MakeCertificate(files_));
    ::signal(SIGPIPE, SIG_IGN);  // sent by the client's TLS library
  }
  static bool MakeCertificate(const TlsFiles& files) {
    const std::string command =
        "umask 077; openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj "
        "/CN=localhost -keyout " +
        files.key + " -out " + files.certificate + " > /dev/null 2>&1";
    return std::system(command.c_str()) == 0;
  }
  void StartTls() {
    tls = std::make_shared<const TlsFiles>(files_);
    Start();
  }
  // False: the handshake failed.
  bool Connect(int highest_version) {
    context_.reset(::SSL_CTX_new(::TLS_client_method()));
    SSL_CTX_set_max_proto_version(context_.get(), highest_version);
    client_ = std::make_unique<TestClient>(Tcp());
    tls_.reset(::SSL_new(context_.get()));
    ::SSL_set_fd(tls_.get(), client_->fd());
    return ::SSL_connect(tls_.get()) == 1;
  }
  std::string Ask(const std::string& request) {
    ::SSL_write(tls_.get(), request.data(), static_cast<int>(request.size()));
    return Read();
  }
  std::string Read() {
    std::string answer(65536, '\0');
    answer.resize(static_cast<std::size_t>(std::max(0, ::SSL_read(tls_.get(), answer.data(), 65536))));
    return answer;
  }

  TlsFiles files_;
  std::unique_ptr<SSL_CTX, FreeTls> context_;
  std::unique_ptr<TestClient> client_;
  std::unique_ptr<SSL, FreeTls> tls_;
};

TEST_F(TlsTest, ServesSeveralRequestsOnAConnection) {
  StartTls();
  ASSERT_TRUE(Connect(TLS1_3_VERSION));
  EXPECT_TRUE(Ask(Get("/hello", kToken)).ends_with("hello"));
  EXPECT_TRUE(Ask(Get("/work", kToken)).ends_with("work for tokreader"));
  EXPECT_TRUE(Ask(Get("/hello")).starts_with("HTTP/1.1 401"));
}

TEST_F(TlsTest, CarriesWebSockets) {
  StartTls();
  ASSERT_TRUE(Connect(TLS1_3_VERSION));
  const std::string answer =
      Ask(Get("/echo", kToken + "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: "
                                "13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"));
  ASSERT_TRUE(answer.starts_with("HTTP/1.1 101")) << answer;
  EXPECT_EQ(Ask(std::string("\x81\x82\0\0\0\0hi", 8)), "\x81\x02hi");
}

TEST_F(TlsTest, CarriesTunnelsBothWays) {
  TestProgram program([](TestClient& connection) {
    std::string head;
    while (!head.ends_with("\r\n\r\n")) head += connection.Read(1);
    if (head.contains("Upgrade: echo")) {
      connection.Send("HTTP/1.1 101 Switching\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n");
      for (std::string piece = connection.Read(4); !piece.empty(); piece = connection.Read(4)) connection.Send(piece);
    } else {
      connection.Send("HTTP/1.1 413 Too Large\r\nContent-Length: 2\r\n\r\nno");
    }
  });
  Dialect inside{.name = "inside", .mounts = {{.prefix = "/inside"}}, .credential = BearerCredential};
  inside.routes.push_back({.method = "*", .pattern = "/inside/{...}", .handler = [&program](const Request&) {
                             return Response{.body = Tunnel{.stream = ConnectTo(program.port(), StreamKind::kSocket)}};
                           }});
  inside.routes.back().body = BodyRule::kTunnel;
  options.dialects.push_back(std::move(inside));
  StartTls();
  ASSERT_TRUE(Connect(TLS1_3_VERSION));
  EXPECT_TRUE(Ask(Get("/inside/", kToken + "Connection: Upgrade\r\nUpgrade: echo\r\n")).starts_with("HTTP/1.1 101"));
  for (const char* word : {"echo", "echo", "last"}) EXPECT_EQ(Ask(word), word);
  // When an answer comes while the body is being sent, the server stops reading the body and sends the answer and a
  // close_notify.
  ASSERT_TRUE(Connect(TLS1_3_VERSION));
  const std::string answer =
      Ask("POST /inside/ HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n" + kToken + "\r\nhalf");
  EXPECT_TRUE(answer.starts_with("HTTP/1.1 413")) << answer;
  EXPECT_EQ(Read(), "no");
  EXPECT_EQ(Read(), "");
  EXPECT_EQ(::SSL_get_shutdown(tls_.get()) & SSL_RECEIVED_SHUTDOWN, SSL_RECEIVED_SHUTDOWN);
  server.reset();
}

TEST_F(TlsTest, TwelveIsSpokenAndElevenIsNot) {
  StartTls();
  EXPECT_TRUE(Connect(TLS1_2_VERSION));
  EXPECT_FALSE(Connect(TLS1_1_VERSION));
}

TEST_F(TlsTest, WhoDoesNotSpeakItIsClosed) {
  options.limits.header_time = std::chrono::milliseconds(200);
  StartTls();
  auto plain = Tcp();
  plain.Send(Get("/hello"));
  EXPECT_TRUE(plain.Ends(std::chrono::seconds(1)));
  EXPECT_TRUE(Tcp().Ends(std::chrono::seconds(1))) << "the deadline of the handshake";
}

TEST_F(TlsTest, FilesAreCheckedBeforehand) {
  EXPECT_TRUE(CheckTls(files_));
  TlsFiles other{.certificate = directory.path() / "other.pem", .key = directory.path() / "other-key.pem"};
  ASSERT_TRUE(MakeCertificate(other));
  EXPECT_FALSE(CheckTls({.certificate = files_.certificate, .key = other.key}));
  EXPECT_FALSE(CheckTls({.certificate = "/nowhere", .key = files_.key}));
  ::chmod(files_.key.c_str(), 0640);
  EXPECT_EQ(CheckTls(files_).error().code, base::Code::kPermissionDenied);
}

TEST_F(TlsTest, WhoComesTooOftenIsSentAway) {
  options.limits.handshakes = {.per_second = 0.1, .at_once = 2, .longest_wait = std::chrono::milliseconds(100)};
  StartTls();
  EXPECT_TRUE(Connect(TLS1_3_VERSION));
  EXPECT_TRUE(Connect(TLS1_3_VERSION));
  EXPECT_FALSE(Connect(TLS1_3_VERSION));
  EXPECT_EQ(Unix().Ask(Get("/hello")).status, 200);
}

}  // namespace
}  // namespace skerry::transport::http
