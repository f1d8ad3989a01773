// Credentials that come in a header of their own: `X-API-KEY: …`.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "base/result.hpp"
#include "transport/http/message.hpp"

namespace skerry::transport::kit {

// For Dialect::credential; `name` belongs into Dialect::credential_headers too. A header that comes twice, or is empty,
// is an error.
std::function<base::Result<std::optional<std::string>>(const http::RequestHead&)> HeaderCredential(std::string name);

}  // namespace skerry::transport::kit
