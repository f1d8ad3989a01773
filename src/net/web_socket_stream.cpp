#include "net/web_socket_stream.hpp"

#include <algorithm>

#include <boost/asio/error.hpp>
#include <boost/asio/post.hpp>

namespace skerry::net {

using boost::system::error_code;

struct WebSocketStream::Operation {
  WebSocketStream* stream;
  std::function<Progress()> attempt;
  Moved moved;

  void operator()(error_code error = {}) {
    if (!error && !stream->waiting_.is_open()) error = boost::asio::error::operation_aborted;
    if (error) return moved(error, 0);
    const Progress progress = attempt();
    if (progress.WantsWait()) {
      const auto until = progress.kind == Progress::Kind::kWantsWrite ? Descriptor::wait_write : Descriptor::wait_read;
      return stream->waiting_.async_wait(until, std::move(*this));
    }
    if (progress.kind == Progress::Kind::kEnd) error = boost::asio::error::eof;
    if (progress.kind == Progress::Kind::kBroken) error = boost::asio::error::connection_reset;
    moved(error, progress.bytes);
  }
};

void WebSocketStream::Read(std::span<char> into, Moved moved) {
  Start(into.size(), [this, into] { return Receive(into); }, std::move(moved));
}

void WebSocketStream::Write(std::size_t size, Moved moved) {
  Start(size, [this, size] { return socket_->TryWrite({piece_.data(), size}); }, std::move(moved));
}

void WebSocketStream::Start(std::size_t size, std::function<Progress()> attempt, Moved moved) {
  if (size > 0) return boost::asio::post(io_, Operation{this, std::move(attempt), std::move(moved)});
  boost::asio::post(io_, [kept = std::move(moved)]() mutable { kept(error_code(), 0); });
}

Progress WebSocketStream::Receive(std::span<char> into) {
  if (!input_left_) return socket_->TryRead(into);
  if (*input_left_ == 0) return {.kind = Progress::Kind::kBroken, .why = "it says too much"};
  const Progress progress = socket_->TryRead(into.first(std::min(into.size(), *input_left_)));
  *input_left_ -= progress.bytes;
  return progress;
}

}  // namespace skerry::net
