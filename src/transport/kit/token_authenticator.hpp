// Identifies a caller: the owner at the unix socket, or a client with a token.
#pragma once

#include "engine/tokens.hpp"
#include "transport/http/dialect.hpp"

namespace skerry::transport::kit {

// The limits of a token that has none of its own; 0: no limit.
struct TokenDefaults {
  std::uint64_t requests_per_second = 0;
  std::uint64_t concurrent_runs = 0;
  std::uint64_t sessions = 0;
};

class TokenAuthenticator : public http::Authenticator {
 public:
  // `tokens` is borrowed.
  TokenAuthenticator(const engine::Tokens& tokens, const TokenDefaults& defaults)
      : tokens_(tokens), defaults_(defaults) {}

  base::Result<http::Caller> Authenticate(const http::Peer& peer,
                                          const std::optional<std::string>& credential) override;
  [[nodiscard]] bool Holds(const http::Caller& caller) override;

 private:
  const engine::Tokens& tokens_;
  const TokenDefaults defaults_;
};

}  // namespace skerry::transport::kit
