// TokensView: who may ask the daemon besides its owner. For those who may administer.
#pragma once

#include <string>
#include <vector>

#include "engine/tokens.hpp"
#include "engine/views/view.hpp"

namespace skerry::engine {

class TokensView : public View {
 public:
  explicit TokensView(const Access& access) : View(access) {}

  base::Result<IssuedToken> Issue(NewToken wanted) const;
  [[nodiscard]] base::Result<std::vector<core::TokenRecord>> List() const;
  // From now on it is refused. Never kept from being revoked by a record that cannot be written.
  base::Status Revoke(const std::string& id) const;
};

}  // namespace skerry::engine
