// Tokens: what a daemon lets clients in by, besides its owner.
#pragma once

#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "core/service_store.hpp"

namespace skerry::engine {

struct NewToken {
  std::string name;
  std::string tenant;  // "" for a tenant of its own
  std::vector<core::TokenScope> scopes;
  core::TokenLimits limits;
  std::optional<std::chrono::seconds> ttl;
  std::string created_by;
};

struct IssuedToken {
  core::TokenRecord record;
  std::string secret;  // shown once; the store has its digest
};

// Thread-safe. Nothing of a secret is kept.
class Tokens {
 public:
  // `store` is borrowed.
  static base::Result<Tokens> Load(core::ServiceStore& store);
  Tokens(Tokens&& other) noexcept : store_(other.store_), by_digest_(std::move(other.by_digest_)) {}

  base::Result<IssuedToken> Issue(NewToken wanted);
  // kUnauthenticated for a token that is unknown, revoked or expired: the error does not tell which.
  [[nodiscard]] base::Result<core::TokenRecord> Check(std::string_view secret) const;
  [[nodiscard]] base::Result<std::vector<core::TokenRecord>> List() const { return store_->Tokens(); }
  // Whether the token of this id would pass now.
  [[nodiscard]] bool Holds(std::string_view id) const;
  // kNotFound. The token is refused from now on.
  base::Status Revoke(const std::string& id);

 private:
  explicit Tokens(core::ServiceStore& store) : store_(&store) {}

  core::ServiceStore* store_;
  mutable std::mutex mutex_;
  std::map<std::string, core::TokenRecord, std::less<>> by_digest_;  // those that are valid
};

}  // namespace skerry::engine
