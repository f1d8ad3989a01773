// The engine's principal of a request.
#pragma once

#include "engine/principal.hpp"
#include "transport/http/dialect.hpp"

namespace skerry::transport::kit {

engine::Principal PrincipalOf(const http::Request& request);

}  // namespace skerry::transport::kit
