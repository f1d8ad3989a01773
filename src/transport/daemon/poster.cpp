#include "transport/daemon/poster.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include "net/client.hpp"

namespace skerry::transport::daemon {
namespace {

using net::Endpoint;

constexpr std::string_view kHttp = "http://";
constexpr std::string_view kHttps = "https://";
constexpr std::size_t kMostOfAnAnswer = std::size_t{64} << 10U;

struct Target {
  Endpoint endpoint;
  std::string path;  // with the query
};

// The url is not repeated: it may hold a secret.
std::unexpected<base::Error> Wrong(const std::string& what) {
  return base::Err(base::Code::kInvalidArgument, "the url to send to " + what);
}

bool HasPort(std::string_view authority) {
  const std::size_t bracket = authority.rfind(']');
  return authority.find(':', bracket == std::string_view::npos ? 0 : bracket) != std::string_view::npos;
}

base::Result<Target> TargetOf(std::string_view url) {
  const bool plain = url.starts_with(kHttp);
  if (!plain && !url.starts_with(kHttps)) return Wrong("begins with http:// or https://");
  const std::string_view scheme = plain ? kHttp : kHttps;
  std::string_view rest = url.substr(scheme.size());
  rest = rest.substr(0, rest.find('#'));
  const std::size_t end = std::min(rest.find_first_of("/?"), rest.size());
  std::string authority(rest.substr(0, end));
  if (authority.contains('@')) return Wrong("has no user and no password; give what the server asks for as a header");
  if (plain && !HasPort(authority)) authority += ":80";
  auto endpoint = Endpoint::Parse(std::string(scheme) + authority);
  if (!endpoint) return Wrong("has a host, and a port from 1 to 65535 if any, as https://host:port/path");
  std::string path(rest.substr(end));
  if (!path.starts_with('/')) path.insert(0, "/");
  return Target{std::move(*endpoint), std::move(path)};
}

base::Result<int> Send(const watch::Posting& posting, const std::string& certificates) {
  const auto deadline = base::Deadline::After(posting.timeout);
  SKERRY_ASSIGN_OR_RETURN(Target target, TargetOf(posting.url));
  target.endpoint.certificates = certificates;
  net::OutgoingRequest request{
      .method = "POST", .target = target.path, .headers = posting.headers, .body = posting.body};
  request.headers.emplace_back("Connection", "close");
  net::Client client(target.endpoint);
  auto answer = client.Send(request, deadline);
  if (!answer) return std::unexpected(answer.error());
  // Lets the server finish its answer; the status counts even if reading the rest fails.
  (void)answer->ReadAll(kMostOfAnAnswer, deadline);
  return answer->status();
}

}  // namespace

watch::Post MakePoster(std::string certificates) {
  return
      [certificates = std::move(certificates)](const watch::Posting& posting) { return Send(posting, certificates); };
}

}  // namespace skerry::transport::daemon
