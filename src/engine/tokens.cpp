#include "engine/tokens.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/ids.hpp"
#include "base/sha256.hpp"

namespace skerry::engine {
namespace {

constexpr std::string_view kPrefix = "sk_";  // lets scanners for secrets find tokens that were committed by mistake

std::string DigestOf(std::string_view secret) {
  base::Sha256 hash;
  hash.Update(secret);
  return hash.FinishHex();
}

}  // namespace

base::Result<Tokens> Tokens::Load(core::ServiceStore& store) {
  Tokens tokens(store);
  SKERRY_ASSIGN_OR_RETURN(auto records, store.Tokens());
  for (core::TokenRecord& record : records)
    if (!record.revoked_at) tokens.by_digest_.emplace(record.secret_sha256, std::move(record));
  return tokens;
}

base::Result<IssuedToken> Tokens::Issue(NewToken wanted) {
  const auto now = std::chrono::system_clock::now();
  // Three ids of 82 bits each.
  IssuedToken issued{.secret = base::RandomId(kPrefix) + base::RandomId("") + base::RandomId("")};
  issued.record = {.id = base::RandomId("tok"),
                   .name = std::move(wanted.name),
                   .tenant = std::move(wanted.tenant),
                   .scopes = std::move(wanted.scopes),
                   .secret_sha256 = DigestOf(issued.secret),
                   .limits = wanted.limits,
                   .created_by = std::move(wanted.created_by),
                   .created_at = now};
  if (issued.record.tenant.empty()) issued.record.tenant = issued.record.id;
  if (wanted.ttl) issued.record.expires_at = now + *wanted.ttl;
  SKERRY_RETURN_IF_ERROR(store_->AddToken(issued.record));
  const std::scoped_lock lock(mutex_);
  by_digest_.emplace(issued.record.secret_sha256, issued.record);
  return issued;
}

base::Result<core::TokenRecord> Tokens::Check(std::string_view secret) const {
  const std::string digest = DigestOf(secret);
  const std::scoped_lock lock(mutex_);
  const auto found = by_digest_.find(digest);
  const bool valid = found != by_digest_.end() &&
                     (!found->second.expires_at || *found->second.expires_at > std::chrono::system_clock::now());
  if (!valid) return base::Err(base::Code::kUnauthenticated, "the token is not valid; skerry token create makes one");
  return found->second;
}

bool Tokens::Holds(std::string_view id) const {
  const auto now = std::chrono::system_clock::now();
  const std::scoped_lock lock(mutex_);
  return std::ranges::any_of(by_digest_, [&](const auto& entry) {
    return entry.second.id == id && (!entry.second.expires_at || *entry.second.expires_at > now);
  });
}

base::Status Tokens::Revoke(const std::string& id) {
  SKERRY_RETURN_IF_ERROR(store_->RevokeToken(id, std::chrono::system_clock::now()));
  const std::scoped_lock lock(mutex_);
  std::erase_if(by_digest_, [&](const auto& entry) { return entry.second.id == id; });
  return {};
}

}  // namespace skerry::engine
