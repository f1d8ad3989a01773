// Channel: the bytes of one connection, plain or through TLS.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string_view>
#include <variant>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/stream.hpp>

namespace skerry::transport::http {

namespace asio = boost::asio;
using ErrorCode = boost::system::error_code;
using Socket = asio::generic::stream_protocol::socket;
using TlsStream = asio::ssl::stream<Socket>;

// No method has a deadline: the caller has one, and calls Close when it has passed.
class Channel {
 public:
  explicit Channel(Socket socket) : stream_(std::move(socket)) {}
  Channel(Socket socket, asio::ssl::context& tls) : stream_(std::make_unique<TlsStream>(std::move(socket), tls)) {}

  asio::awaitable<bool> Handshake();
  // How much was read. 0 at the end and after an error; no caller needs the difference.
  asio::awaitable<std::size_t> Read(std::span<char> room);
  // How much was written; 0: an error.
  asio::awaitable<std::size_t> Write(std::string_view bytes);
  // Tells the other end that nothing more will be written.
  asio::awaitable<void> Finish();
  // Reads and writes that wait return with an error.
  void Close();
  // A Read that waits returns 0; the channel can still be written to. No Write may wait.
  void StopReading();
  // Whether the other end is gone or has closed its side.
  [[nodiscard]] bool PeerIsGone();

  [[nodiscard]] Socket& socket();
  [[nodiscard]] TlsStream* tls();  // null without TLS

 private:
  std::variant<Socket, std::unique_ptr<TlsStream>> stream_;
};

}  // namespace skerry::transport::http
