// Stream: a connection as Asio sees it, plain or with TLS, and the one loop that waits. Costly to include.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <utility>

#include <boost/asio/basic_stream_socket.hpp>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/beast/core/role.hpp>
#include <boost/system/error_code.hpp>

#include "base/deadline.hpp"
#include "base/result.hpp"
#include "net/client.hpp"

namespace skerry::net {

// What Asio and Beast call an AsyncStream; hence the names. Has a loop of its own, which runs only inside of calls.
class Stream {
 public:
  using executor_type = boost::asio::io_context::executor_type;
  using Socket = boost::asio::basic_stream_socket<boost::asio::generic::stream_protocol, executor_type>;

  // Connected, and with TLS after its handshake. kUnavailable, also when the other end cannot be trusted.
  static base::Result<std::unique_ptr<Stream>> Open(const Endpoint& endpoint, base::Deadline deadline);
  Stream() : socket_(io_) {}
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  ~Stream() = default;

  executor_type get_executor() { return io_.get_executor(); }
  [[nodiscard]] int fd() { return socket_.native_handle(); }
  void Close() {
    boost::system::error_code ignored;
    socket_.close(ignored);
  }

  template <class Buffers, class Token>
  auto async_read_some(const Buffers& buffers, Token&& token) {
    return boost::asio::async_initiate<Token, void(boost::system::error_code, std::size_t)>(
        [this](auto handler, const Buffers& into) {
          if (tls_) {
            tls_->async_read_some(into, std::move(handler));
          } else {
            socket_.async_read_some(into, std::move(handler));
          }
        },
        token, buffers);
  }

  template <class Buffers, class Token>
  auto async_write_some(const Buffers& buffers, Token&& token) {
    return boost::asio::async_initiate<Token, void(boost::system::error_code, std::size_t)>(
        [this](auto handler, const Buffers& from) {
          if (tls_) {
            tls_->async_write_some(from, std::move(handler));
          } else {
            socket_.async_write_some(from, std::move(handler));
          }
        },
        token, buffers);
  }

  // Carries on what is under way until `done`. False at the deadline.
  template <class Done>
  bool RunUntil(base::Deadline deadline, const Done& done) {
    constexpr base::Deadline::Clock::duration kLongest = std::chrono::hours(1);  // more overflows
    while (!done()) {
      io_.restart();
      // With no time left, what has come already still counts; run_one_for would not look at it.
      const std::size_t ran = deadline.IsNever()   ? io_.run_one()
                              : deadline.Expired() ? io_.poll_one()
                                                   : io_.run_one_for(std::min(kLongest, deadline.Remaining()));
      if (ran == 0 && !done() && (deadline.IsNever() || deadline.Expired())) return false;
    }
    return true;
  }
  // What can be done without waiting.
  void Poll() {
    io_.restart();
    io_.poll();
  }

 private:
  base::Status StartTls(const Endpoint& endpoint, base::Deadline deadline);

  boost::asio::io_context io_{1};
  std::optional<boost::asio::ssl::context> context_;
  Socket socket_;
  std::optional<boost::asio::ssl::stream<Socket&>> tls_;
};

// How Beast ends a WebSocket's connection.
inline void teardown(boost::beast::role_type /*role*/, Stream& stream, boost::system::error_code& error) {
  stream.Close();
  error = {};
}
template <class Handler>
void async_teardown(boost::beast::role_type /*role*/, Stream& stream, Handler&& handler) {
  stream.Close();
  boost::asio::post(stream.get_executor(), [kept = std::forward<Handler>(handler)]() mutable {
    std::move(kept)(boost::system::error_code());
  });
}
inline void beast_close_socket(Stream& stream) {
  stream.Close();
}

}  // namespace skerry::net
