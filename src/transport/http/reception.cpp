#include "transport/http/reception.hpp"

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <cerrno>
#include <exception>
#include <utility>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include "base/ids.hpp"
#include "os/errno_error.hpp"
#include "transport/http/answer_text.hpp"
#include "transport/http/tls.hpp"

namespace skerry::transport::http {
namespace {

constexpr std::chrono::milliseconds kTick{50};
constexpr std::chrono::milliseconds kPause{100};
constexpr int kAtOnce = 32;

void Tune(int fd, Transport transport) {
  if (transport == Transport::kUnix) return;
  const int on = 1;
  ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
  ::setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on));
}

// Errors of accept that concern one client; the others concern the listener.
bool IsOfOneClient(int error) {
  return error == ECONNABORTED || error == EINTR || error == EPROTO || error == EPERM;
}

}  // namespace

Reception::Reception(Service& service)
    : service_(service), work_(asio::make_work_guard(*service.loop)), tick_(*service.loop) {}

base::Status Reception::Open(ListeningSocket socket) {
  Listener listener{.fd = asio::posix::stream_descriptor(*service_.loop),
                    .transport = socket.transport,
                    .host = std::move(socket.host),
                    .name = std::move(socket.name)};
  if (socket.transport == Transport::kTls) {
    if (socket.tls == nullptr) return base::Err(base::Code::kInvalidArgument, "TLS needs a certificate");
    SKERRY_ASSIGN_OR_RETURN(listener.tls, MakeTlsContext(*socket.tls));
  }
  const int flags = ::fcntl(socket.fd.get(), F_GETFL);
  if (flags < 0 || ::fcntl(socket.fd.get(), F_SETFL, flags | O_NONBLOCK) < 0) return os::ErrnoErr("listening socket");
  ErrorCode error;
  listener.fd.assign(socket.fd.get(), error);
  if (error) return base::Err(base::Code::kInternal, "listening socket: " + error.message());
  (void)socket.fd.Release();
  listeners_.push_back(std::move(listener));
  return {};
}

void Reception::Begin() {
  for (Listener& listener : listeners_) {
    auto accept = Accept(listener);
    asio::co_spawn(*service_.loop, std::move(accept), asio::detached);
  }
}

// Without a free descriptor accept would fail again at once and for ever: so it pauses.
asio::awaitable<void> Reception::Accept(Listener& listener) {
  asio::steady_timer pause(*service_.loop);
  while (listener.fd.is_open()) {
    const auto [failed] =
        co_await listener.fd.async_wait(asio::posix::stream_descriptor::wait_read, asio::as_tuple(asio::use_awaitable));
    int error = failed ? EIO : 0;
    for (int taken = 0; listener.fd.is_open() && error == 0 && taken < kAtOnce; ++taken)
      if (!AcceptOne(listener, error)) break;
    if (error == 0 || !listener.fd.is_open()) continue;
    pause.expires_after(kPause);
    co_await pause.async_wait(asio::as_tuple(asio::use_awaitable));
  }
}

bool Reception::AcceptOne(Listener& listener, int& error) {
  base::UniqueFd fd(::accept4(listener.fd.native_handle(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  if (fd.valid()) {
    Welcome(std::move(fd), listener);
    return true;
  }
  if (IsOfOneClient(errno)) return true;
  if (errno != EAGAIN) error = errno;
  return false;
}

void Reception::Welcome(base::UniqueFd fd, const Listener& listener) {
  auto client = ClientOf(fd.get(), listener.transport, listener.host);
  if (!client) return;
  client->peer.listener = listener.name;
  const auto door = listener.transport == Transport::kUnix ? Places::Door::kOwner : Places::Door::kStranger;
  const Places::Entry entry = service_.places.Enter(door, client->key);
  if (entry.leaves) connections_.at(*entry.leaves)->Abort();
  if (!entry.id) return TurnAway(fd.get(), listener.transport);
  Tune(fd.get(), listener.transport);
  Socket socket(*service_.loop);
  ErrorCode error;
  const int family = listener.transport == Transport::kUnix ? AF_UNIX : AF_INET;
  socket.assign(asio::generic::stream_protocol(family, 0), fd.get(), error);
  if (error) return service_.places.Leave(*entry.id);
  (void)fd.Release();
  Channel channel = listener.tls ? Channel(std::move(socket), *listener.tls) : Channel(std::move(socket));
  Serve(*entry.id, std::make_unique<Connection>(service_, std::move(channel), std::move(*client), *entry.id));
}

// Sends as much of a refusal as the socket takes at once, and keeps nothing.
void Reception::TurnAway(int fd, Transport transport) {
  ++service_.refused;
  if (transport == Transport::kTls) return;
  const std::string id = base::RandomId("req");
  const Refusal refusal{.status = 503, .code = "unavailable", .message = "too many connections; try again soon"};
  const Response response = RefuseNeutrally(refusal, id);
  const auto* body = std::get_if<std::string>(&response.body);
  if (body == nullptr) return;
  Headers headers = response.headers;
  headers.Set("Retry-After", "1");
  const std::string text =
      Compose({.status = 503, .headers = &headers, .request_id = id, .length = body->size(), .keep_alive = false}) +
      *body;
  (void)::send(fd, text.data(), text.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
  ::shutdown(fd, SHUT_WR);
}

void Reception::Serve(Places::Id place, std::unique_ptr<Connection> connection) {
  const auto served = connections_.emplace(place, std::move(connection)).first;
  service_.connections = connections_.size();
  if (!ticking_) {
    ticking_ = true;
    auto tick = Tick();
    asio::co_spawn(*service_.loop, std::move(tick), asio::detached);
  }
  auto serve = served->second->Serve();
  // An exception comes from a library; it ends this connection and nothing else.
  auto over = [this, place](const std::exception_ptr&) { Remove(place); };
  asio::co_spawn(*service_.loop, std::move(serve), std::move(over));
}

void Reception::Remove(Places::Id place) {
  service_.places.Leave(place);
  connections_.erase(place);
  service_.connections = connections_.size();
  if (!connections_.empty()) return;
  tick_.cancel();
  if (!service_.draining) return;
  const std::lock_guard lock(mutex_);
  drained_ = true;
  changed_.notify_all();
}

// Runs while there are connections: an unused server does not wake up.
asio::awaitable<void> Reception::Tick() {
  while (!connections_.empty()) {
    tick_.expires_after(kTick);
    co_await tick_.async_wait(asio::as_tuple(asio::use_awaitable));
    const TimePoint now = std::chrono::steady_clock::now();
    for (const auto& [place, connection] : connections_) connection->Tick(now);
  }
  ticking_ = false;
}

void Reception::CloseListeners() {
  ErrorCode ignored;
  for (Listener& listener : listeners_) listener.fd.close(ignored);
}

void Reception::Drain() {
  service_.draining = true;
  CloseListeners();
  for (const auto& [place, connection] : connections_) connection->Drain();
  if (!connections_.empty()) return;
  const std::lock_guard lock(mutex_);
  drained_ = true;
  changed_.notify_all();
}

void Reception::End() {
  service_.draining = true;
  CloseListeners();
  for (const auto& [place, connection] : connections_) connection->Abort();
  work_.reset();
}

bool Reception::WaitUntilEmpty(base::Deadline deadline) {
  std::unique_lock lock(mutex_);
  const auto drained = [this] { return drained_; };
  if (!deadline.IsNever()) return changed_.wait_for(lock, deadline.Remaining(), drained);
  changed_.wait(lock, drained);
  return true;
}

}  // namespace skerry::transport::http
