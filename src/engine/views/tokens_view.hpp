// TokensView: the tokens of the daemon. For admins.
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
  // The token is refused from now on, even when that cannot be recorded.
  base::Status Revoke(const std::string& id) const;
};

}  // namespace skerry::engine
