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

// Nothing here has a deadline: who waits has one, and calls Close when it has passed.
class Channel {
 public:
  explicit Channel(Socket socket) : stream_(std::move(socket)) {}
  Channel(Socket socket, asio::ssl::context& tls) : stream_(std::make_unique<TlsStream>(std::move(socket), tls)) {}

  asio::awaitable<bool> Handshake();
  // 0: the end, or an error; there is no difference that anybody could use.
  asio::awaitable<std::size_t> Read(std::span<char> room);
  // How much was written; 0: an error.
  asio::awaitable<std::size_t> Write(std::string_view bytes);
  // Says that nothing more will be written.
  asio::awaitable<void> Finish();
  // What waits for this channel goes on with an error.
  void Close();
  // A Read that waits returns 0; the channel is still good for writing. No Write may wait.
  void StopReading();
  // The other end is gone or will say nothing more.
  [[nodiscard]] bool PeerIsGone();

  [[nodiscard]] Socket& socket();
  [[nodiscard]] TlsStream* tls();  // null without

 private:
  std::variant<Socket, std::unique_ptr<TlsStream>> stream_;
};

}  // namespace skerry::transport::http
