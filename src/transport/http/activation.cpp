// The sockets that systemd passes to a service, and the states that it wants to be told.
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "os/errno_error.hpp"
#include "transport/http/listening.hpp"
#include "transport/http/socket_address.hpp"

namespace skerry::transport::http {
namespace {

constexpr int kFirst = 3;  // SD_LISTEN_FDS_START
constexpr int kMost = 64;

// -1 when the variable is missing or no number.
int NumberOf(const char* variable) {
  const char* value = std::getenv(variable);  // NOLINT(concurrency-mt-unsafe): at the start there is one thread
  if (value == nullptr) return -1;
  const std::string_view text = value;
  int number = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() ? number : -1;
}

// "a:b:c": the names of the sockets, in their order.
std::vector<std::string> NamesOf(const char* variable) {
  const char* value = std::getenv(variable);  // NOLINT(concurrency-mt-unsafe): at the start there is one thread
  std::vector<std::string> names;
  for (std::string_view rest = value == nullptr ? "" : value; !rest.empty();) {
    const std::size_t end = std::min(rest.find(':'), rest.size());
    names.emplace_back(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return names;
}

base::Result<ListeningSocket> Take(int number, const std::shared_ptr<const TlsFiles>& tls) {
  base::UniqueFd fd(number);
  if (::fcntl(number, F_SETFD, FD_CLOEXEC) < 0) return os::ErrnoErr("a socket from systemd");
  int listens = 0;
  int type = 0;
  socklen_t length = sizeof(int);
  if (::getsockopt(number, SOL_SOCKET, SO_ACCEPTCONN, &listens, &length) < 0 || listens == 0 ||
      ::getsockopt(number, SOL_SOCKET, SO_TYPE, &type, &length) < 0 || type != SOCK_STREAM)
    return base::Err(base::Code::kInvalidArgument, "systemd passed something that is no listening stream socket");
  SKERRY_ASSIGN_OR_RETURN(const SocketAddress address, SocketAddress::OfSocket(number));
  if (address.family() == AF_UNIX) return ListeningSocket{.fd = std::move(fd), .transport = Transport::kUnix};
  return ListeningSocket{.fd = std::move(fd), .transport = tls ? Transport::kTls : Transport::kPlain, .tls = tls};
}

}  // namespace

base::Result<std::vector<ListeningSocket>> TakeActivated(const std::shared_ptr<const TlsFiles>& tls) {
  const bool ours = NumberOf("LISTEN_PID") == ::getpid();
  const int count = ours ? NumberOf("LISTEN_FDS") : 0;
  const std::vector<std::string> names = NamesOf("LISTEN_FDNAMES");
  // Programs that this process starts must not take these sockets for their own.
  for (const char* variable : {"LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES"}) ::unsetenv(variable);
  if (count > kMost) return base::Err(base::Code::kInvalidArgument, "systemd passed too many sockets");
  std::vector<ListeningSocket> sockets;
  for (int at = 0; at < count; ++at) {
    SKERRY_ASSIGN_OR_RETURN(ListeningSocket socket, Take(kFirst + at, tls));
    if (static_cast<std::size_t>(at) < names.size()) socket.name = names[static_cast<std::size_t>(at)];
    sockets.push_back(std::move(socket));
  }
  return sockets;
}

void NotifySystemd(const std::string& state) {
  const char* name = std::getenv("NOTIFY_SOCKET");  // NOLINT(concurrency-mt-unsafe): nobody changes it
  if (name == nullptr || (*name != '/' && *name != '@')) return;
  const auto address = SocketAddress::Unix(name);
  const base::UniqueFd fd(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (!address || !fd.valid()) return;
  (void)::sendto(fd.get(), state.data(), state.size(), MSG_NOSIGNAL | MSG_DONTWAIT, address->get(), address->size());
}

}  // namespace skerry::transport::http
