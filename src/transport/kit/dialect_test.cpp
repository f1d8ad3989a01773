// A dialect of two routes, made with the kit as a new dialect would be, beside another one: found by every kind of
// mount, with answers in lines of JSON, a form, and a tunnel.
#include <gmock/gmock.h>

#include "transport/http/forwarding.hpp"
#include "transport/http/test_program.hpp"
#include "transport/http/test_server.hpp"
#include "transport/kit/answers.hpp"
#include "transport/kit/credentials.hpp"
#include "transport/kit/json_lines.hpp"
#include "transport/kit/multipart.hpp"
#include "transport/kit/query.hpp"

namespace skerry::transport::kit {
namespace {

using testing::HasSubstr;

// --- the dialect ---

class Lines : public http::Stream {
 public:
  explicit Lines(std::vector<Json> values) : values_(std::move(values)) {}
  void Begin(std::function<void()>) override {}
  http::Pull Next(std::string& bytes) override {
    if (at_ == values_.size()) return http::Pull::kEnd;
    AppendJsonLine(bytes, values_[at_++]);
    return http::Pull::kMore;
  }

 private:
  std::vector<Json> values_;
  std::size_t at_ = 0;
};

// Answers with the parts of a form, each on a line.
base::Result<http::Response> Describe(const http::Request& request) {
  SKERRY_RETURN_IF_ERROR(OnlyQuery(request, {"longest"}));
  SKERRY_ASSIGN_OR_RETURN(const std::uint64_t longest, NumberOf(request, "longest", 1, 1'000'000, 1'000'000));
  SKERRY_ASSIGN_OR_RETURN(MultipartReader form, MultipartReader::Open(request));
  std::vector<Json> lines;
  for (;;) {
    SKERRY_ASSIGN_OR_RETURN(const auto part, form.Next());
    if (!part) break;
    SKERRY_ASSIGN_OR_RETURN(const std::string content, form.ReadAll(longest));
    lines.push_back({{"name", part->name}, {"file", part->file_name.value_or("")}, {"size", content.size()}});
  }
  return JsonLinesAnswer(std::make_unique<Lines>(std::move(lines)));
}

// A tunnel to a port. A real dialect asks the engine for the caller's sandbox and its Connect.
base::Result<http::Response> Lead(const http::Request& request) {
  const auto port = static_cast<std::uint16_t>(std::stoul(request.parameters.at("port")));
  auto stream = http::ConnectTo(port, http::StreamKind::kSocket);
  if (stream == nullptr) return base::Err(base::Code::kUnavailable, "nobody listens on this port");
  return http::Response{.body =
                            http::Tunnel{.stream = std::move(stream), .target = http::TargetBehind(request.head, 3)}};
}

http::Response Words(const http::Refusal& refusal, const std::string&) {
  return JsonAnswer(refusal.status, {{"error", refusal.message}});
}

http::Dialect MakeNotes(std::vector<http::Mount> mounts) {
  http::Dialect dialect{.name = "notes",
                        .mounts = std::move(mounts),
                        .credential = HeaderCredential("X-Notes-Key"),
                        .credential_headers = {"X-Notes-Key"},
                        .refuse = Words};
  dialect.routes = {{.method = "POST",
                     .pattern = "/notes/forms",
                     .handler = Answering(Describe, Words),
                     .body = http::BodyRule::kLarge,
                     .media = "multipart/form-data"},
                    {.method = "*",
                     .pattern = "/notes/ports/{port}/{...}",
                     .handler = Answering(Lead, Words),
                     .body = http::BodyRule::kTunnel}};
  return dialect;
}

// --- the server ---

const std::string kForm =
    "--XX\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\none\r\n--XX\r\nContent-Disposition: form-data; "
    "name=\"f\"; "
    "filename=\"../../x.txt\"\r\n\r\nhello\r\n--XX--\r\n";

class NotesTest : public http::ServerTest {
 protected:
  // Serves beside the dialect of the server's tests, which has all other requests.
  void StartWith(std::vector<http::Mount> mounts) {
    options.limits.memory_body = 16;
    options.dialects.push_back(MakeNotes(std::move(mounts)));
    Start();
  }
  static std::string Upload(const std::string& host, const std::string& more, const std::string& query = "") {
    return "POST /notes/forms" + query + " HTTP/1.1\r\nHost: " + host +
           "\r\nX-Notes-Key: reader\r\nContent-Type: multipart/form-data; boundary=XX\r\nContent-Length: " +
           std::to_string(kForm.size()) + "\r\n" + more + "\r\n" + kForm;
  }
  static void ExpectLines(const http::Answer& answer) {
    EXPECT_EQ(answer.status, 200) << answer.body;
    EXPECT_EQ(answer.Find("Content-Type"), "application/x-ndjson");
    EXPECT_EQ(answer.body,
              "{\"name\":\"a\",\"file\":\"\",\"size\":3}\n{\"name\":\"f\",\"file\":\"x.txt\",\"size\":5}\n");
  }
};

TEST_F(NotesTest, IsFoundByItsPath) {
  StartWith({{.prefix = "/notes"}});
  ExpectLines(Tcp().Ask(Upload("localhost", "")));
  EXPECT_EQ(Unix().Ask(http::Get("/hello")).body, "hello") << "the other one is where it was";
}

TEST_F(NotesTest, IsFoundByItsHost) {
  StartWith({{.host = "{id}.notes.test"}});
  ExpectLines(Tcp().Ask(Upload("a.notes.test", "")));
  EXPECT_EQ(Tcp().Ask(Upload("localhost", "")).status, 401) << "the other one knows no such key";
  EXPECT_EQ(Tcp().Ask(Upload("a.b.notes.test", "")).status, 403);
}

TEST_F(NotesTest, IsFoundByItsHeader) {
  StartWith({{.header = "X-Notes-Key"}});
  ExpectLines(Tcp().Ask(Upload("localhost", "")));
  EXPECT_EQ(Unix().Ask(http::Get("/hello")).body, "hello");
  EXPECT_EQ(Unix().Ask(http::Get("/hello", "X-Notes-Key: reader\r\n")).status, 404);
}

TEST_F(NotesTest, IsFoundByItsListener) {
  StartWith({{.listener = "loopback"}});
  ExpectLines(Tcp().Ask(Upload("localhost", "")));
  EXPECT_EQ(Tcp().Ask(http::Get("/hello", "X-Notes-Key: reader\r\n")).status, 404);
  EXPECT_EQ(Unix().Ask(http::Get("/hello")).body, "hello");
}

TEST_F(NotesTest, RefusesInItsOwnWords) {
  StartWith({{.prefix = "/notes"}});
  EXPECT_EQ(Tcp().Ask(Upload("localhost", "", "?longest=4")).body,
            "{\"error\":\"multipart/form-data: a part is too large\"}\n");
  EXPECT_THAT(Tcp().Ask(Upload("localhost", "", "?long=4")).body,
              HasSubstr("{\"error\":\"there is no query parameter"));
  EXPECT_THAT(Tcp().Ask(Upload("localhost", "X-Notes-Key: reader\r\n")).body, HasSubstr("more than one X-Notes-Key"));
  const auto refused = Tcp().Ask(http::Get("/notes/forms"));
  EXPECT_EQ(refused.status, 401);
  EXPECT_THAT(refused.body, HasSubstr("X-Notes-Key"));
  EXPECT_EQ(Tcp().Ask(http::Get("/notes/forms", "X-Notes-Key: reader\r\n")).status, 405);
}

TEST_F(NotesTest, LeadsToAProgram) {
  const http::TestProgram program([](http::TestClient& connection) {
    const http::ProgramRequest request = http::ReadRequest(connection);
    connection.Send("HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(request.head.size()) + "\r\n\r\n" +
                    request.head);
  });
  StartWith({{.prefix = "/notes"}});
  auto client = Tcp();
  const std::string path = "/notes/ports/" + std::to_string(program.port());
  const http::Answer answer = client.Ask(http::Get(path + "/a?b=1&b=2", "X-Notes-Key: reader\r\n"));
  EXPECT_EQ(answer.status, 200);
  EXPECT_THAT(answer.body, HasSubstr("GET /a?b=1&b=2 HTTP/1.1\r\n"));
  EXPECT_THAT(answer.body, testing::Not(HasSubstr("reader")));
  EXPECT_EQ(client.Ask(http::Get("/notes/ports/1/", "X-Notes-Key: reader\r\n")).body,
            "{\"error\":\"nobody listens on this port\"}\n");
}

}  // namespace
}  // namespace skerry::transport::kit
