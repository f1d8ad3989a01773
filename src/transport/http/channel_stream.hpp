// ChannelStream: a Channel as Beast wants it. It has one type for plain connections and for TLS, and one for what is
// called at the end of an operation, so that a WebSocket is compiled once.
#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <utility>

#include <boost/asio/async_result.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/beast/core/role.hpp>

#include "transport/http/channel.hpp"

namespace skerry::transport::http {

// What Asio and Beast call an AsyncStream; hence the names. The channel and the loop are borrowed. Handlers are called
// on the loop, whatever executor they name: there is no other.
class ChannelStream {
 public:
  using executor_type = asio::io_context::executor_type;
  using Moved = std::move_only_function<void(ErrorCode, std::size_t)>;
  using Ended = std::move_only_function<void(ErrorCode)>;

  ChannelStream(Channel& channel, asio::io_context& loop) : channel_(channel), loop_(loop) {}

  executor_type get_executor() { return loop_.get_executor(); }

  template <class Buffers, class Token>
  auto async_read_some(const Buffers& buffers, Token&& token) {
    return asio::async_initiate<Token, void(ErrorCode, std::size_t)>(
        [this](auto handler, const Buffers& into) { Read(FirstOf<asio::mutable_buffer>(into), std::move(handler)); },
        token, buffers);
  }
  template <class Buffers, class Token>
  auto async_write_some(const Buffers& buffers, Token&& token) {
    return asio::async_initiate<Token, void(ErrorCode, std::size_t)>(
        [this](auto handler, const Buffers& from) { Write(FirstOf<asio::const_buffer>(from), std::move(handler)); },
        token, buffers);
  }

  // Ends this side, waits for the end of the other one or for anything else that it says, and closes the channel.
  void TearDown(Ended ended);
  void Close() { channel_.Close(); }

 private:
  // What is given together travels together: the head of a frame and its payload, and the answer to the handshake,
  // which has a piece for each of its lines.
  static constexpr std::size_t kPieces = 16;
  template <class Buffer>
  using Pieces = std::array<Buffer, kPieces>;

  template <class Buffer, class Buffers>
  static Pieces<Buffer> FirstOf(const Buffers& buffers) {
    Pieces<Buffer> pieces;
    std::size_t count = 0;
    const auto end = asio::buffer_sequence_end(buffers);
    for (auto each = asio::buffer_sequence_begin(buffers); each != end && count < kPieces; ++each)
      if (const Buffer buffer(*each); buffer.size() > 0) pieces[count++] = buffer;
    return pieces;
  }

  void Read(const Pieces<asio::mutable_buffer>& into, Moved moved);
  void Write(const Pieces<asio::const_buffer>& from, Moved moved);

  Channel& channel_;
  asio::io_context& loop_;
};

// How Beast ends a WebSocket's connection.
template <class Handler>
void async_teardown(boost::beast::role_type /*role*/, ChannelStream& stream, Handler&& handler) {
  stream.TearDown(std::forward<Handler>(handler));
}
inline void beast_close_socket(ChannelStream& stream) {
  stream.Close();
}

}  // namespace skerry::transport::http
