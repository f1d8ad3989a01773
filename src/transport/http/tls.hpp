// Certificates as Asio needs them.
#pragma once

#include <memory>

#include <boost/asio/ssl/context.hpp>

#include "base/result.hpp"
#include "transport/http/server.hpp"

namespace skerry::transport::http {

// TLS 1.2 and 1.3.
base::Result<std::shared_ptr<boost::asio::ssl::context>> MakeTlsContext(const TlsFiles& files);

}  // namespace skerry::transport::http
