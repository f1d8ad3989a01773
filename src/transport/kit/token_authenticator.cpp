#include "transport/kit/token_authenticator.hpp"

namespace skerry::transport::kit {
namespace {

constexpr std::uint32_t kEverything = 0b1111;

}  // namespace

base::Result<http::Caller> TokenAuthenticator::Authenticate(const http::Peer& peer,
                                                            const std::optional<std::string>& credential) {
  if (!credential) {
    // The server lets only the owner and root in at the unix socket.
    if (peer.transport == http::Transport::kUnix)
      return http::Caller{.id = "local", .tenant = "local", .owner = true, .scopes = kEverything};
    return base::Err(base::Code::kUnauthenticated, "a token is needed; skerry token create makes one");
  }
  SKERRY_ASSIGN_OR_RETURN(const core::TokenRecord token, tokens_.Check(*credential));
  http::Caller caller{.id = token.id, .tenant = token.tenant};
  for (const core::TokenScope scope : token.scopes) caller.scopes |= 1U << static_cast<unsigned>(scope);
  const auto choose = [](std::uint64_t own, std::uint64_t otherwise) { return own != 0 ? own : otherwise; };
  caller.requests_per_second = choose(token.limits.requests_per_second, defaults_.requests_per_second);
  caller.concurrent_runs = choose(token.limits.concurrent_runs, defaults_.concurrent_runs);
  caller.sessions = choose(token.limits.sessions, defaults_.sessions);
  return caller;
}

bool TokenAuthenticator::Holds(const http::Caller& caller) {
  return caller.owner || tokens_.Holds(caller.id);
}

}  // namespace skerry::transport::kit
