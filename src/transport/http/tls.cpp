#include "transport/http/tls.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <openssl/ssl.h>

#include "os/errno_error.hpp"
#include "transport/http/listening.hpp"

namespace skerry::transport::http {
namespace {

namespace ssl = boost::asio::ssl;
using ErrorCode = boost::system::error_code;

std::unexpected<base::Error> Bad(const std::string& file, const ErrorCode& error) {
  return base::Err(base::Code::kInvalidArgument, file + ": " + error.message());
}

base::Status CheckKeyMode(const std::string& key) {
  struct stat facts{};
  if (::stat(key.c_str(), &facts) < 0) return os::ErrnoErr(key);
  if (facts.st_uid != ::geteuid() && facts.st_uid != 0)
    return base::Err(base::Code::kPermissionDenied, key + " belongs to another user");
  if ((facts.st_mode & (S_IRWXG | S_IRWXO)) != 0)
    return base::Err(base::Code::kPermissionDenied, key + " can be read by others; chmod 600 it");
  return {};
}

void Harden(ssl::context& context) {
  context.set_options(ssl::context::default_workarounds | ssl::context::no_compression);
  SSL_CTX* handle = context.native_handle();
  SSL_CTX_set_min_proto_version(handle, TLS1_2_VERSION);
  SSL_CTX_set_options(handle, SSL_OP_NO_RENEGOTIATION | SSL_OP_CIPHER_SERVER_PREFERENCE);
  // An idle connection needs no buffers.
  SSL_CTX_set_mode(handle, SSL_MODE_RELEASE_BUFFERS);
}

}  // namespace

base::Result<std::shared_ptr<ssl::context>> MakeTlsContext(const TlsFiles& files) {
  SKERRY_RETURN_IF_ERROR(CheckKeyMode(files.key));
  try {
    auto context = std::make_shared<ssl::context>(ssl::context::tls_server);
    Harden(*context);
    ErrorCode error;
    context->use_certificate_chain_file(files.certificate, error);
    if (error) return Bad(files.certificate, error);
    context->use_private_key_file(files.key, ssl::context::pem, error);
    if (error) return Bad(files.key, error);
    if (SSL_CTX_check_private_key(context->native_handle()) != 1)
      return base::Err(base::Code::kInvalidArgument, files.key + " is not the key of " + files.certificate);
    return context;
  } catch (const std::exception& exception) {
    return base::Err(base::Code::kInternal, std::string("TLS: ") + exception.what());
  }
}

base::Status CheckTls(const TlsFiles& files) {
  SKERRY_RETURN_IF_ERROR(MakeTlsContext(files));
  return {};
}

}  // namespace skerry::transport::http
