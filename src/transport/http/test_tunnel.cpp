#include "transport/http/test_tunnel.hpp"

#include <utility>

#include "transport/http/forwarding.hpp"

namespace skerry::transport::http {
namespace {

base::Result<std::optional<std::string>> AccessToken(const RequestHead& head) {
  const auto token = head.headers.Find("X-Access-Token");
  return token ? std::optional<std::string>(*token) : std::nullopt;
}

Response Refused(const Refusal& refusal, const std::string&) {
  return {.status = refusal.status, .body = refusal.code + "|" + refusal.message};
}

Dialect WithRoute(std::string name, Mount mount, std::string pattern, Handler handler) {
  Dialect dialect{.name = std::move(name), .mounts = {std::move(mount)}, .credential = AccessToken, .refuse = Refused};
  dialect.credential_headers = {"X-Access-Token"};
  dialect.routes.push_back(
      {.method = "*", .pattern = std::move(pattern), .handler = std::move(handler), .body = BodyRule::kTunnel});
  return dialect;
}

}  // namespace

TunnelTest::TunnelTest() {
  const auto lead = [this](const Request& request, std::string target) -> Response {
    const auto port = static_cast<std::uint16_t>(std::stoul(request.parameters.at("port")));
    auto stream = ConnectTo(port, GetParam());
    if (stream == nullptr) return {.status = 502, .body = "nobody listens"};
    return {.body = Tunnel{
                .stream = std::move(stream), .target = std::move(target), .host = other_host, .headers = more_headers}};
  };
  options.dialects.push_back(WithRoute("ports", {.host = "{port}-{id}.example.test"}, "/{...}",
                                       [lead](const Request& request) { return lead(request, ""); }));
  options.dialects.push_back(
      WithRoute("proxy", {.prefix = "/proxy"}, "/proxy/{port}/{...}",
                [lead](const Request& request) { return lead(request, TargetBehind(request.head, 2)); }));
}

void TunnelTest::Start(TestProgram::Talk talk) {
  program = std::make_unique<TestProgram>(std::move(talk));
  ServerTest::Start();
}

std::string TunnelTest::To(const std::string& target, const std::string& more, const std::string& method) const {
  return method + " " + target + " HTTP/1.1\r\nHost: " + std::to_string(program->port()) +
         "-box.example.test\r\nX-Access-Token: reader\r\n" + more + "\r\n";
}

}  // namespace skerry::transport::http
