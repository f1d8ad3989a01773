// WebSocketStream: a Socket as Beast wants it, and the one loop that waits. Costly to include.
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <utility>

#include <boost/asio/async_result.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/basic_stream_descriptor.hpp>
#include <boost/asio/post.hpp>
#include <boost/beast/core/role.hpp>
#include <boost/system/error_code.hpp>

#include "net/patience.hpp"
#include "net/socket.hpp"

namespace skerry::net {

// What Asio and Beast call an AsyncStream; hence the names. Has a loop of its own, which runs only inside of calls.
class WebSocketStream {
 public:
  using executor_type = boost::asio::io_context::executor_type;

  // Throws what Asio throws when the system has no more descriptors.
  explicit WebSocketStream(std::unique_ptr<Socket> socket) : socket_(std::move(socket)), waiting_(io_, socket_->fd()) {}
  WebSocketStream(const WebSocketStream&) = delete;
  WebSocketStream& operator=(const WebSocketStream&) = delete;
  ~WebSocketStream() { Close(); }

  executor_type get_executor() { return io_.get_executor(); }
  [[nodiscard]] int fd() const { return socket_->fd(); }
  // Ends the operations that are under way. The descriptor itself is closed by the destructor.
  void Close() {
    if (!waiting_.is_open()) return;
    static_cast<void>(waiting_.release());
    socket_->Shutdown();
  }

  template <class Buffers, class Token>
  auto async_read_some(const Buffers& buffers, Token&& token) {
    return boost::asio::async_initiate<Token, void(boost::system::error_code, std::size_t)>(
        [this](auto handler, const Buffers& into) { Read(FirstOf(into), std::move(handler)); }, token, buffers);
  }

  template <class Buffers, class Token>
  auto async_write_some(const Buffers& buffers, Token&& token) {
    return boost::asio::async_initiate<Token, void(boost::system::error_code, std::size_t)>(
        [this](auto handler, const Buffers& from) {
          // Copied into one piece, so that the head of a frame and its payload travel together.
          Write(boost::asio::buffer_copy(boost::asio::buffer(piece_), from), std::move(handler));
        },
        token, buffers);
  }

  // From now on the connection counts as broken after `size` more bytes; none: no limit.
  void LimitInput(std::optional<std::size_t> size) { input_left_ = size; }

  // Runs the operations that are under way until `done`. False when the patience is over.
  template <class Done>
  bool RunUntil(const Patience& patience, const Done& done) {
    constexpr base::Deadline::Clock::duration kLongest = std::chrono::hours(1);  // more overflows
    const std::stop_callback wake(patience.stop(), [this] { io_.stop(); });
    while (!done()) {
      io_.restart();
      // When the patience is over, bytes that have come already still count; run_one_for would not look at them. A stop
      // that is requested from here on stops the loop.
      const bool over = patience.IsOver();
      const auto deadline = patience.deadline();
      const std::size_t ran = over                 ? io_.poll_one()
                              : deadline.IsNever() ? io_.run_one()
                                                   : io_.run_one_for(std::min(kLongest, deadline.Remaining()));
      if (ran == 0 && (over || deadline.IsNever()) && !done()) return false;
    }
    return true;
  }
  // After Close: runs until the cancelled operation has told its handler.
  template <class Done>
  void Drain(const Done& done) {
    while (!done()) {
      io_.restart();
      if (io_.run_one() == 0) return;
    }
  }
  // Does what needs no waiting.
  void Poll() {
    io_.restart();
    io_.poll();
  }

 private:
  struct Operation;  // tries until bytes were moved or the socket failed
  // One type for all that Beast wants to be called, so that a wait is compiled once.
  using Moved = std::move_only_function<void(boost::system::error_code, std::size_t)>;

  void Read(std::span<char> into, Moved moved);
  void Write(std::size_t size, Moved moved);  // the first bytes of piece_
  void Start(std::size_t size, std::function<Progress()> attempt, Moved moved);
  Progress Receive(std::span<char> into);

  template <class Buffers>
  static std::span<char> FirstOf(const Buffers& buffers) {
    const auto end = boost::asio::buffer_sequence_end(buffers);
    for (auto each = boost::asio::buffer_sequence_begin(buffers); each != end; ++each)
      if (const boost::asio::mutable_buffer buffer(*each); buffer.size() > 0)
        return {static_cast<char*>(buffer.data()), buffer.size()};
    return {};
  }

  static constexpr std::size_t kPiece = std::size_t{16} << 10U;

  using Descriptor = boost::asio::posix::basic_stream_descriptor<executor_type>;
  std::array<char, kPiece> piece_{};  // the bytes of the write that is under way
  boost::asio::io_context io_{1};
  std::unique_ptr<Socket> socket_;
  Descriptor waiting_;
  std::optional<std::size_t> input_left_;
};

// How Beast ends a WebSocket's connection.
inline void teardown(boost::beast::role_type /*role*/, WebSocketStream& stream, boost::system::error_code& error) {
  stream.Close();
  error = {};
}
template <class Handler>
void async_teardown(boost::beast::role_type /*role*/, WebSocketStream& stream, Handler&& handler) {
  stream.Close();
  boost::asio::post(stream.get_executor(), [kept = std::forward<Handler>(handler)]() mutable {
    std::move(kept)(boost::system::error_code());
  });
}
inline void beast_close_socket(WebSocketStream& stream) {
  stream.Close();
}

}  // namespace skerry::net
