#include "transport/kit/principal.hpp"

namespace skerry::transport::kit {

engine::Principal PrincipalOf(const http::Request& request) {
  return {.id = request.caller.id,
          .tenant = request.caller.tenant,
          .scopes = engine::Scopes::OfBits(request.caller.scopes),
          .owner = request.caller.owner,
          .most_runs = request.caller.concurrent_runs,
          .most_sessions = request.caller.sessions,
          .request = request.id,
          .from = request.head.peer.address,
          .trace = request.trace};
}

}  // namespace skerry::transport::kit
