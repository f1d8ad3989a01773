#include "engine/views/tokens_view.hpp"

#include <utility>

#include "engine/chronicle.hpp"
#include "workspace/session_directory.hpp"

namespace skerry::engine {

base::Result<IssuedToken> TokensView::Issue(NewToken wanted) const {
  return Allowed(kToAdminister, [&]() -> base::Result<IssuedToken> {
    if (!wanted.tenant.empty()) SKERRY_RETURN_IF_ERROR(workspace::CheckSessionId(wanted.tenant));
    wanted.created_by = principal().id;
    SKERRY_ASSIGN_OR_RETURN(IssuedToken issued, tokens().Issue(std::move(wanted)));
    if (const auto noted = chronicle().TokenMade(issued.record, principal()); !noted) {
      (void)tokens().Revoke(issued.record.id);
      return std::unexpected(noted.error());
    }
    return issued;
  });
}

base::Result<std::vector<core::TokenRecord>> TokensView::List() const {
  return Allowed(kToAdminister, [&] { return tokens().List(); });
}

base::Status TokensView::Revoke(const std::string& id) const {
  return Allowed(kToAdminister, [&]() -> base::Status {
    SKERRY_RETURN_IF_ERROR(tokens().Revoke(id));
    return chronicle().TokenRevoked(id, principal());
  });
}

}  // namespace skerry::engine
