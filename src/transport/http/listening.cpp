#include "transport/http/listening.hpp"

#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <utility>

#include "os/errno_error.hpp"
#include "os/own_directory.hpp"
#include "transport/http/socket_address.hpp"
#include "transport/http/text.hpp"

namespace skerry::transport::http {
namespace {

constexpr int kBacklog = 512;

struct SocketName {
  std::string path;  // whole
  base::UniqueFd directory;
  std::string name;
};

base::Result<SocketName> OpenDirectoryOf(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  if (!path.starts_with('/') || slash + 1 == path.size())
    return base::Err(base::Code::kInvalidArgument, path + " is no absolute path of a socket");
  const std::string directory = slash == 0 ? "/" : path.substr(0, slash);
  SKERRY_ASSIGN_OR_RETURN(base::UniqueFd fd, os::OpenOwnDirectory(directory));
  return SocketName{.path = path, .directory = std::move(fd), .name = path.substr(slash + 1)};
}

// A path may be too long for the address of a socket; through the open directory it is short.
base::Result<SocketAddress> AddressOf(const SocketName& socket) {
  if (auto address = SocketAddress::Unix(socket.path)) return address;
  return SocketAddress::Unix("/proc/self/fd/" + std::to_string(socket.directory.get()) + "/" + socket.name);
}

bool SomebodyAnswers(const SocketAddress& address) {
  const base::UniqueFd probe(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  // EAGAIN: the queue of a listener is full, so there is a listener.
  return ::connect(probe.get(), address.get(), address.size()) == 0 || errno == EAGAIN;
}

base::Status MakeRoom(const SocketName& socket, const SocketAddress& address) {
  struct stat facts{};
  if (::fstatat(socket.directory.get(), socket.name.c_str(), &facts, AT_SYMLINK_NOFOLLOW) < 0) {
    if (errno == ENOENT) return {};
    return os::ErrnoErr(socket.path);
  }
  if (!S_ISSOCK(facts.st_mode) || facts.st_uid != ::geteuid())
    return base::Err(base::Code::kPermissionDenied, socket.path + " is there already and is no socket of yours");
  if (SomebodyAnswers(address))
    return base::Err(base::Code::kConflict, "a daemon listens on " + socket.path + " already");
  if (::unlinkat(socket.directory.get(), socket.name.c_str(), 0) < 0 && errno != ENOENT)
    return os::ErrnoErr(socket.path);
  return {};
}

bool IsLoopback(const std::string& host) {
  return host == "localhost" || host == "::1" ||
         (host.starts_with("127.") && host.find_first_not_of("0123456789.") == std::string::npos);
}

std::unexpected<base::Error> NoAddress(const std::string& text) {
  return base::Err(base::Code::kInvalidArgument, text + " is no address to listen on; write HOST:PORT or [IPV6]:PORT");
}

struct FreeAddresses {
  void operator()(addrinfo* list) const { ::freeaddrinfo(list); }
};

base::Result<base::UniqueFd> BindTcp(const addrinfo& address, const std::string& name) {
  base::UniqueFd fd(::socket(address.ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!fd.valid()) return os::ErrnoErr("socket");
  const int on = 1;
  ::setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
  if (::bind(fd.get(), address.ai_addr, address.ai_addrlen) < 0) return os::ErrnoErr("listen on " + name);
  if (::listen(fd.get(), kBacklog) < 0) return os::ErrnoErr("listen on " + name);
  return fd;
}

}  // namespace

base::Result<ListeningSocket> ListenUnix(const std::string& path) {
  SKERRY_ASSIGN_OR_RETURN(const SocketName socket, OpenDirectoryOf(path));
  SKERRY_ASSIGN_OR_RETURN(const SocketAddress address, AddressOf(socket));
  SKERRY_RETURN_IF_ERROR(MakeRoom(socket, address));
  base::UniqueFd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!fd.valid()) return os::ErrnoErr("socket");
  if (::bind(fd.get(), address.get(), address.size()) < 0) return os::ErrnoErr("listen on " + path);
  // No client can connect before listen, and no other user can enter the directory.
  if (::fchmodat(socket.directory.get(), socket.name.c_str(), S_IRUSR | S_IWUSR, 0) < 0) return os::ErrnoErr(path);
  if (::listen(fd.get(), kBacklog) < 0) return os::ErrnoErr("listen on " + path);
  return ListeningSocket{.fd = std::move(fd), .transport = Transport::kUnix};
}

base::Result<TcpAddress> ParseListen(const std::string& text) {
  std::string_view rest = text;
  TcpAddress address{.host = "127.0.0.1"};
  const std::size_t bracket = rest.starts_with('[') ? rest.find(']') : 0;
  const std::size_t colon = bracket == std::string_view::npos ? bracket : rest.rfind(':');
  if (bracket > 0) {
    if (colon != bracket + 1) return NoAddress(text);
    address.host = rest.substr(1, bracket - 1);
  } else if (colon != std::string_view::npos && colon > 0) {
    address.host = rest.substr(0, colon);
    // An IPv6 address without brackets, or "*" for every address.
    if (address.host.contains(':') || address.host.contains('*')) return NoAddress(text);
  }
  const std::string_view port = colon == std::string_view::npos ? rest : rest.substr(colon + 1);
  const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), address.port);
  if (port.empty() || error != std::errc() || end != port.data() + port.size() || address.host.empty())
    return NoAddress(text);
  address.loopback = IsLoopback(address.host);
  return address;
}

base::Result<ListeningSocket> ListenTcp(const TcpAddress& address, std::shared_ptr<const TlsFiles> tls) {
  const std::string name = address.host + " port " + std::to_string(address.port);
  // A hosts file that gives "localhost" to another address must not make the daemon public.
  const std::string host = address.host == "localhost" ? "127.0.0.1" : address.host;
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_NUMERICSERV;
  addrinfo* found = nullptr;
  if (const int error = ::getaddrinfo(host.c_str(), std::to_string(address.port).c_str(), &hints, &found); error != 0)
    return base::Err(base::Code::kInvalidArgument, "listen on " + name + ": " + ::gai_strerror(error));
  const std::unique_ptr<addrinfo, FreeAddresses> list(found);
  SKERRY_ASSIGN_OR_RETURN(base::UniqueFd fd, BindTcp(*list, name));
  const Transport transport = tls ? Transport::kTls : Transport::kPlain;
  const bool six = address.host.contains(':');
  return ListeningSocket{.fd = std::move(fd),
                         .transport = transport,
                         .tls = std::move(tls),
                         .host = six ? "[" + address.host + "]" : address.host};
}

base::Result<std::uint16_t> PortOf(const ListeningSocket& socket) {
  SKERRY_ASSIGN_OR_RETURN(const SocketAddress address, SocketAddress::OfSocket(socket.fd.get()));
  return address.port();
}

}  // namespace skerry::transport::http
