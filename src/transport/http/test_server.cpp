#include "transport/http/test_server.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <chrono>
#include <stdexcept>
#include <thread>
#include <utility>

namespace skerry::transport::http {
namespace {

constexpr std::uint32_t kRead = 1U << 0U;
constexpr std::uint32_t kRun = 1U << 1U;
constexpr std::uint32_t kAdmin = 1U << 3U;

class TestAuthenticator : public Authenticator {
 public:
  explicit TestAuthenticator(std::shared_ptr<Tap> tap) : tap_(std::move(tap)) {}
  base::Result<Caller> Authenticate(const Peer& peer, const std::optional<std::string>& credential) override {
    if (credential == "reader") return Caller{.id = "tokreader", .tenant = "t", .scopes = kRead};
    if (credential == "often") return Caller{.id = "tokoften", .scopes = kRead, .requests_per_second = 5};
    if (!credential && peer.uid) return Caller{.id = "local", .scopes = kRead | kRun | kAdmin};
    return base::Err(base::Code::kUnauthenticated, "no token");
  }
  bool Holds(const Caller& caller) override { return !tap_->revoked || caller.id == "local"; }

 private:
  std::shared_ptr<Tap> tap_;
};

class TapStream : public Stream {
 public:
  explicit TapStream(std::shared_ptr<Tap> tap) : tap_(std::move(tap)) {}
  ~TapStream() override { tap_->destroyed = true; }
  void Begin(std::function<void()> wake) override {
    tap_->wake = std::move(wake);
    std::this_thread::sleep_for(tap_->before_begun);
    tap_->begun = true;
  }
  Pull Next(std::string& bytes) override {
    const std::lock_guard lock(tap_->mutex);
    bytes += std::exchange(tap_->waiting, {});
    if (!bytes.empty()) return Pull::kMore;
    return tap_->ended ? Pull::kEnd : Pull::kWait;
  }

 private:
  std::shared_ptr<Tap> tap_;
};

class EndlessStream : public Stream {
 public:
  explicit EndlessStream(std::shared_ptr<Tap> tap) : tap_(std::move(tap)) {}
  ~EndlessStream() override { tap_->destroyed = true; }
  void Begin(std::function<void()> wake) override {
    wake();
    tap_->begun = true;
  }
  Pull Next(std::string& bytes) override {
    bytes.append(64 << 10U, 'x');
    tap_->pulled += 64 << 10U;
    return Pull::kMore;
  }

 private:
  std::shared_ptr<Tap> tap_;
};

// Sends back what it receives; "bye" ends it.
class Echo : public Conversation {
 public:
  explicit Echo(std::shared_ptr<Tap> tap) : tap_(std::move(tap)) {}
  ~Echo() override { tap_->destroyed = true; }
  void Begin(std::function<void()> wake) override {
    tap_->wake = std::move(wake);
    std::this_thread::sleep_for(tap_->before_begun);
    tap_->begun = true;
  }
  Pull Next(WebSocketMessage& message) override {
    if (heard_.empty()) return Pull::kWait;
    message = std::move(heard_.front());
    heard_.erase(heard_.begin());
    return message.bytes == "bye" ? Pull::kEnd : Pull::kMore;
  }
  bool Receive(const WebSocketMessage& message) override {
    if (!tap_->has_room) return false;
    ++tap_->received;
    heard_.push_back(message);
    tap_->wake();
    return true;
  }
  void Closed() override { tap_->closed = true; }

 private:
  std::shared_ptr<Tap> tap_;
  std::vector<WebSocketMessage> heard_;
};

Response Text(std::string text) {
  return {.headers = {{"Content-Type", "text/plain"}}, .body = std::move(text)};
}

std::string BytesOf(const Body& body) {
  if (!body.file.valid()) return body.bytes;
  std::string bytes(static_cast<std::size_t>(body.size) + 1, '\0');
  const ssize_t got = ::read(body.file.get(), bytes.data(), bytes.size());
  bytes.resize(static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
  return bytes;
}

Response ShowBody(const Request& request) {
  return Text(std::string(request.body.file.valid() ? "file " : "memory ") + std::to_string(request.body.size) + " " +
              BytesOf(request.body));
}

Response WaitForTap(const Request& request, Tap& tap) {
  ++tap.inside;
  for (int turn = 0; turn < 500 && !tap.may_return && !request.gone.stop_requested(); ++turn)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  if (request.gone.stop_requested()) tap.told_gone = true;
  --tap.inside;
  return Text("waited");
}

Response SendFile(const Request& request, const std::string& path) {
  base::UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  const auto length = request.head.query.Find("length").value_or("0");
  return {.body = FileBody{.fd = std::move(fd), .offset = 10, .length = std::stoull(length)}};
}

std::vector<Route> RoutesOf(const std::shared_ptr<Tap>& tap, const std::string& file) {
  std::vector<Route> routes;
  const auto add = [&](std::string method, std::string pattern, Handler handler) -> Route& {
    return routes.emplace_back(Route{
        .method = std::move(method), .pattern = std::move(pattern), .scopes = kRead, .handler = std::move(handler)});
  };
  add("GET", "/hello", [](const Request&) { return Text("hello"); }).where = Where::kSocketThread;
  add("GET", "/work", [](const Request& request) { return Text("work for " + request.caller.id); });
  add("GET", "/items/{item}", [](const Request& request) { return Text(request.parameters.at("item")); });
  add("GET", "/items/best", [](const Request&) { return Text("the best"); });
  add("DELETE", "/items/{item}", [](const Request&) { return Response{.status = 204}; });
  add("GET", "/bad-headers", [](const Request&) {
    return Response{.headers = {{"X-Split", "a\r\nX-Evil: 1"}, {"Content-Length", "7"}, {"X-Good", "1"}}};
  });
  add("GET", "/throw", [](const Request&) -> Response { throw std::runtime_error("a library"); });
  add("POST", "/small", ShowBody).body = BodyRule::kSmall;
  add("PUT", "/large", ShowBody).body = BodyRule::kLarge;
  add("POST", "/admin", ShowBody).scopes = kAdmin;
  add("GET", "/wait", [tap](const Request& request) { return WaitForTap(request, *tap); }).watch = Watch::kDisconnect;
  add("GET", "/file", [file](const Request& request) { return SendFile(request, file); });
  add("GET", "/weighty", [](const Request&) { return Text(std::string(std::size_t{8} << 20U, 'x')); });
  add("GET", "/stream", [tap](const Request&) { return Response{.body = std::make_unique<TapStream>(tap)}; });
  add("GET", "/endless", [tap](const Request&) { return Response{.body = std::make_unique<EndlessStream>(tap)}; });
  add("GET", "/echo", [tap](const Request&) { return Response{.status = 101, .body = std::make_unique<Echo>(tap)}; });
  return routes;
}

}  // namespace

void Tap::Say(const std::string& text) {
  {
    const std::lock_guard lock(mutex);
    waiting += text;
  }
  wake();
}

void Tap::End() {
  {
    const std::lock_guard lock(mutex);
    ended = true;
  }
  wake();
}

bool Eventually(const std::function<bool()>& condition) {
  for (int turn = 0; turn < 500; ++turn) {
    if (condition()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return false;
}

std::string Get(std::string_view target, std::string_view more) {
  return "GET " + std::string(target) + " HTTP/1.1\r\nHost: localhost\r\n" + std::string(more) + "\r\n";
}

std::string Post(std::string_view target, std::string_view body, std::string_view more) {
  return "POST " + std::string(target) +
         " HTTP/1.1\r\nHost: localhost\r\nContent-Length: " + std::to_string(body.size()) + "\r\n" + std::string(more) +
         "\r\n" + std::string(body);
}

ServerTest::ServerTest() {
  options.authenticator = std::make_shared<TestAuthenticator>(tap);
  options.spool = directory.path();
  options.log = [this](const AccessRecord& record) {
    const std::lock_guard lock(mutex_);
    records_.push_back(record);
  };
  Dialect dialect{.name = "test",
                  .mounts = {Mount{}},
                  .credential = BearerCredential,
                  .routes = RoutesOf(tap, directory.path() / "file")};
  dialect.refuse = [](const Refusal& refusal, const std::string& id) {
    return Response{.status = refusal.status, .body = refusal.code + "|" + refusal.message + "|" + id};
  };
  options.dialects.push_back(std::move(dialect));
}

ServerTest::~ServerTest() {
  tap->may_return = true;
  server.reset();
}

void ServerTest::Start() {
  std::vector<ListeningSocket> sockets;
  auto local = ListenUnix(socket_path);
  ASSERT_TRUE(local) << local.error().message;
  auto loopback = ListenTcp(*ParseListen("127.0.0.1:0"), tls);
  ASSERT_TRUE(loopback) << loopback.error().message;
  port = *PortOf(*loopback);
  loopback->name = "loopback";
  sockets.push_back(std::move(*local));
  sockets.push_back(std::move(*loopback));
  auto started = Server::Start(std::move(sockets), options, workers);
  ASSERT_TRUE(started) << started.error().message;
  server = std::move(*started);
}

std::vector<AccessRecord> ServerTest::Records() {
  const std::lock_guard lock(mutex_);
  return records_;
}

}  // namespace skerry::transport::http
