// Several dialects on one server, each found by its mounts.
#include <gmock/gmock.h>

#include "transport/http/test_server.hpp"

namespace skerry::transport::http {
namespace {

using testing::HasSubstr;
using testing::Not;

const std::string kReader = "Authorization: Bearer reader\r\n";

Response Words(const Refusal& refusal, const std::string& name) {
  return {.status = refusal.status, .body = name + " refuses: " + refusal.message};
}

// A dialect with two routes and its own wording of errors.
Dialect Small(const std::string& name, std::vector<Mount> mounts) {
  Dialect dialect{.name = name, .mounts = std::move(mounts), .credential = BearerCredential};
  dialect.refuse = [name](const Refusal& refusal, const std::string&) { return Words(refusal, name); };
  const auto show = [name](const Request& request) {
    std::string text = name;
    for (const auto& [part, value] : request.parameters) text.append(" ").append(part).append("=").append(value);
    return Response{.body = text};
  };
  dialect.routes = {{.method = "GET", .pattern = "/v1/sandboxes", .handler = show},
                    {.method = "GET", .pattern = "/{what}", .handler = show}};
  return dialect;
}

class MountTest : public ServerTest {
 protected:
  MountTest() {
    options.dialects.clear();
    options.dialects.push_back(Small("v1", {{.prefix = "/v1"}}));
  }
  // Asks with a token, over TCP.
  Answer Ask(const std::string& path, const std::string& host = "localhost", const std::string& more = "") {
    return Tcp().Ask("GET " + path + " HTTP/1.1\r\nHost: " + host + "\r\n" + kReader + more + "\r\n");
  }
};

TEST_F(MountTest, TheSamePathIsForAnotherDialectByItsHeader) {
  options.dialects.push_back(Small("other", {{.header = "X-Other-Key"}}));
  Start();
  EXPECT_EQ(Ask("/v1/sandboxes").body, "v1");
  EXPECT_EQ(Ask("/v1/sandboxes", "localhost", "X-Other-Key: k\r\n").body, "other");
  EXPECT_EQ(Ask("/thing", "localhost", "X-Other-Key: k\r\n").body, "other what=thing");
  EXPECT_EQ(Ask("/v1/sandboxes", "localhost", "X-Other-Key: k\r\nX-Other-Key: k\r\n").status, 400);
}

TEST_F(MountTest, TheSamePathIsForAnotherDialectByItsHost) {
  options.dialects.push_back(Small("other", {{.host = "api.example.test"}}));
  Start();
  EXPECT_EQ(Ask("/v1/sandboxes").body, "v1");
  EXPECT_EQ(Ask("/v1/sandboxes", "API.example.test:8080").body, "other");
}

TEST_F(MountTest, AHostGivesItsPartsToTheHandler) {
  options.dialects.push_back(Small("ports", {{.host = "{port}-{id}.example.test"}}));
  Start();
  EXPECT_EQ(Ask("/x", "49983-abc.example.test").body, "ports id=abc port=49983 what=x");
  EXPECT_EQ(Ask("/v1/sandboxes", "49983-abc.example.test").body, "ports id=abc port=49983")
      << "a path prefix does not reach into a host that is taken";
}

TEST_F(MountTest, TheSamePathIsForAnotherDialectByItsListener) {
  options.dialects.push_back(Small("other", {{.listener = "loopback"}}));
  Start();
  EXPECT_EQ(Unix().Ask(Get("/v1/sandboxes")).body, "v1");
  EXPECT_EQ(Unix().Ask(Get("/thing")).status, 404);
  EXPECT_EQ(Ask("/v1/sandboxes").body, "other");
  EXPECT_EQ(Ask("/thing").body, "other what=thing");
}

TEST_F(MountTest, OneConnectionMaySpeakToSeveral) {
  options.dialects.push_back(Small("other", {{.prefix = "/other"}}));
  options.dialects.back().routes.push_back(
      {.method = "GET", .pattern = "/other/x", .handler = [](const Request&) { return Response{.body = "there"}; }});
  Start();
  auto client = Unix();
  EXPECT_EQ(client.Ask(Get("/v1/sandboxes")).body, "v1");
  EXPECT_EQ(client.Ask(Get("/other/x")).body, "there");
  EXPECT_EQ(client.Ask(Get("/nowhere")).status, 404);
  EXPECT_EQ(client.Ask(Get("/v1/sandboxes")).body, "v1");
}

TEST_F(MountTest, WhereNobodyIsMountedTheServerAnswersInItsOwnWords) {
  options.dialects.push_back(Small("other", {{.prefix = "/other"}}));
  Start();
  const Answer answer = Tcp().Ask(Get("/nowhere", "X-Request-Id: mine\r\n"));
  EXPECT_EQ(answer.status, 404);
  EXPECT_EQ(answer.Find("Content-Type"), "application/json");
  EXPECT_EQ(answer.body,
            "{\"code\":\"not_found\",\"message\":\"there is no such path\",\"detail\":null,\"request_id\":\"mine\"}\n");
  EXPECT_THAT(Ask("/other/y").body, HasSubstr("other refuses"));
  EXPECT_THAT(Tcp().Ask(Get("/other/y")).body, HasSubstr("other refuses")) << "a token is asked for in its words too";
  EXPECT_THAT(Tcp().Ask("garbage\r\n\r\n").body, HasSubstr("\"invalid_argument\""));
}

TEST_F(MountTest, AMountedHostIsAllowedForWhatIsMountedThereAndForNothingElse) {
  options.dialects.push_back(Small("other", {{.host = "api.example.test", .prefix = "/other"}}));
  options.dialects.push_back(Small("ports", {{.host = "{port}-{id}.example.test"}}));
  Start();
  EXPECT_EQ(Ask("/other", "api.example.test").status, 200);
  for (const char* host :
       {"evil.example", "example.test", "x.example.test", "80-a.example.test.evil", "a.80-a.example.test",
        "80-a.evil.test", "0-a.example.test", "80-a.example.test.", "80-a.example.test@evil"}) {
    EXPECT_EQ(Ask("/other", host).status, 403) << host;
    EXPECT_EQ(Ask("/v1/sandboxes", host).status, 403) << host;
  }
  EXPECT_EQ(Ask("/v1/sandboxes", "api.example.test").status, 403) << "v1 is not mounted on that host";
  EXPECT_EQ(Ask("/nowhere", "api.example.test").status, 403);
}

TEST_F(MountTest, AMountOfOneListenerAllowsItsHostOnlyThere) {
  options.dialects.push_back(Small("other", {{.listener = "loopback", .host = "api.example.test"}}));
  Start();
  EXPECT_EQ(Ask("/x", "api.example.test").body, "other what=x");
  EXPECT_EQ(Unix().Ask("GET /x HTTP/1.1\r\nHost: api.example.test\r\n\r\n").status, 403);
}

TEST_F(MountTest, PagesOfAHostMayAskThatHostWhereTheDialectSaysSo) {
  options.dialects.push_back(Small("ports", {{.host = "{port}-{id}.example.test"}}));
  options.dialects.back().origins = Origins::kOwnHost;
  options.dialects.push_back(Small("strict", {{.host = "api.example.test"}}));
  Start();
  const auto from = [&](const char* host, const char* origin) {
    return Ask("/x", host, "Origin: " + std::string(origin) + "\r\n").status;
  };
  EXPECT_EQ(from("80-a.example.test:8443", "https://80-A.example.test:8443"), 200);
  for (const char* origin : {"https://80-b.example.test:8443", "https://80-a.example.test", "https://evil.example",
                             "null", "ftp://80-a.example.test:8443", "https://80-a.example.test:8443.evil.example"})
    EXPECT_EQ(from("80-a.example.test:8443", origin), 403) << origin;
  EXPECT_EQ(from("api.example.test", "https://api.example.test"), 403);
}

TEST_F(MountTest, EachDialectReadsItsOwnCredential) {
  Dialect other = Small("other", {{.header = "X-Other-Key"}});
  other.credential = [](const RequestHead& head) -> base::Result<std::optional<std::string>> {
    return std::string(*head.headers.Find("X-Other-Key"));
  };
  options.dialects.push_back(std::move(other));
  Start();
  EXPECT_EQ(Tcp().Ask(Get("/v1/sandboxes", "X-Other-Key: reader\r\n")).body, "other");
  EXPECT_EQ(Tcp().Ask(Get("/v1/sandboxes", "X-Other-Key: wrong\r\n" + kReader)).status, 401);
  EXPECT_EQ(Tcp().Ask(Get("/v1/sandboxes", kReader)).body, "v1");
}

TEST_F(MountTest, ADialectMayKnowItsCallersItself) {
  class Anybody : public Authenticator {
   public:
    base::Result<Caller> Authenticate(const Peer&, const std::optional<std::string>&) override {
      return Caller{.id = "anybody", .tenant = "a"};
    }
    bool Holds(const Caller&) override { return true; }
  };
  options.dialects.push_back(Small("open", {{.prefix = "/open"}}));
  options.dialects.back().authenticator = std::make_shared<Anybody>();
  Start();
  EXPECT_EQ(Tcp().Ask(Get("/open")).body, "open what=open");
  EXPECT_EQ(Tcp().Ask(Get("/v1/sandboxes")).status, 401);
}

TEST_F(MountTest, AServerWhoseMountsAreUnclearDoesNotStart) {
  options.dialects.push_back(Small("other", {{.prefix = "/v1"}}));
  std::vector<ListeningSocket> sockets;
  sockets.push_back(std::move(*ListenUnix(socket_path)));
  const auto started = Server::Start(std::move(sockets), options, workers);
  ASSERT_FALSE(started);
  EXPECT_EQ(started.error().message, "the dialect other: it is mounted where v1 is");
}

}  // namespace
}  // namespace skerry::transport::http
