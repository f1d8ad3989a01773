#include "transport/http/channel.hpp"

#include <poll.h>

#include <boost/asio/buffer.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace skerry::transport::http {

asio::awaitable<bool> Channel::Handshake() {
  if (tls() == nullptr) co_return true;
  ErrorCode error;
  co_await tls()->async_handshake(TlsStream::server, asio::redirect_error(asio::use_awaitable, error));
  co_return !error;
}

asio::awaitable<std::size_t> Channel::Read(std::span<char> room) {
  ErrorCode error;
  const auto buffer = asio::buffer(room.data(), room.size());
  if (tls() != nullptr)
    co_return co_await tls()->async_read_some(buffer, asio::redirect_error(asio::use_awaitable, error));
  co_return co_await socket().async_read_some(buffer, asio::redirect_error(asio::use_awaitable, error));
}

asio::awaitable<std::size_t> Channel::Write(std::string_view bytes) {
  ErrorCode error;
  const auto buffer = asio::buffer(bytes.data(), bytes.size());
  if (tls() != nullptr)
    co_return co_await tls()->async_write_some(buffer, asio::redirect_error(asio::use_awaitable, error));
  co_return co_await socket().async_write_some(buffer, asio::redirect_error(asio::use_awaitable, error));
}

asio::awaitable<void> Channel::Finish() {
  ErrorCode error;
  // Asio waits here for the other end's close_notify; the caller's deadline ends that.
  if (tls() != nullptr) co_await tls()->async_shutdown(asio::redirect_error(asio::use_awaitable, error));
  if (socket().is_open()) socket().shutdown(Socket::shutdown_send, error);
}

void Channel::Close() {
  ErrorCode ignored;
  socket().close(ignored);
}

void Channel::StopReading() {
  ErrorCode ignored;
  socket().cancel(ignored);
}

bool Channel::PeerIsGone() {
  if (!socket().is_open()) return true;
  pollfd entry{.fd = socket().native_handle(), .events = POLLRDHUP};
  return ::poll(&entry, 1, 0) > 0 && (entry.revents & (POLLRDHUP | POLLHUP | POLLERR | POLLNVAL)) != 0;
}

Socket& Channel::socket() {
  if (TlsStream* stream = tls()) return stream->next_layer();
  return std::get<Socket>(stream_);
}

TlsStream* Channel::tls() {
  const auto* stream = std::get_if<std::unique_ptr<TlsStream>>(&stream_);
  return stream == nullptr ? nullptr : stream->get();
}

}  // namespace skerry::transport::http
