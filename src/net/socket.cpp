#include "net/socket.hpp"

#include <poll.h>
#include <sys/socket.h>

#include <cerrno>
#include <system_error>

#include "net/connect.hpp"

namespace skerry::net {
namespace {

using Kind = Progress::Kind;

Progress AfterCall(ssize_t count, Kind when_blocked) {
  if (count >= 0) return {.kind = Kind::kMoved, .bytes = static_cast<std::size_t>(count)};
  if (errno == EAGAIN || errno == EINTR) return {.kind = when_blocked};
  return {.kind = Kind::kBroken, .why = std::generic_category().message(errno)};
}

}  // namespace

base::Result<std::unique_ptr<Socket>> Socket::Open(const Endpoint& endpoint, const TlsContext* tls,
                                                   Patience& patience) {
  SKERRY_ASSIGN_OR_RETURN(base::UniqueFd fd, ConnectSocket(endpoint, patience));
  auto socket = std::unique_ptr<Socket>(new Socket(std::move(fd)));
  if (tls != nullptr) SKERRY_RETURN_IF_ERROR(socket->StartTls(endpoint, *tls, patience));
  return socket;
}

base::Status Socket::StartTls(const Endpoint& endpoint, const TlsContext& context, Patience& patience) {
  SKERRY_ASSIGN_OR_RETURN(tls_, TlsSession::Make(context, endpoint, fd_.get()));
  for (;;) {
    const Progress progress = tls_->Handshake();
    if (progress.kind == Kind::kMoved) return {};
    if (!progress.WantsWait())
      return base::Err(base::Code::kUnavailable, "no secure connection to " + endpoint.Describe() + ": " +
                                                     (progress.why.empty() ? "it ended without a word" : progress.why));
    if (!Await(progress, patience)) return patience.Fault(endpoint.called);
  }
}

Progress Socket::TryRead(std::span<char> into) {
  if (tls_) {
    const std::lock_guard lock(mutex_);
    return tls_->Read(into);
  }
  Progress progress = AfterCall(::recv(fd_.get(), into.data(), into.size(), 0), Kind::kWantsRead);
  if (progress.kind == Kind::kMoved && progress.bytes == 0) progress.kind = Kind::kEnd;
  return progress;
}

Progress Socket::TryWrite(std::string_view bytes) {
  if (tls_) {
    const std::lock_guard lock(mutex_);
    return tls_->Write(bytes);
  }
  return AfterCall(::send(fd_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL), Kind::kWantsWrite);
}

Progress Socket::TryCloseWrite() {
  if (tls_) {
    const std::lock_guard lock(mutex_);
    return tls_->CloseWrite();
  }
  return AfterCall(::shutdown(fd_.get(), SHUT_WR), Kind::kWantsWrite);
}

void Socket::Shutdown() const {
  ::shutdown(fd_.get(), SHUT_RDWR);
}

bool Socket::Await(const Progress& progress, Patience& patience, short besides) const {
  const short events = progress.kind == Kind::kWantsWrite ? POLLOUT : POLLIN;
  return patience.Await(fd_.get(), static_cast<short>(events | besides));
}

}  // namespace skerry::net
