#include "transport/http/far_end.hpp"

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <atomic>
#include <functional>
#include <utility>

#include <boost/asio/buffer.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/redirect_error.hpp>

#include "base/unique_fd.hpp"
#include "os/errno_error.hpp"

namespace skerry::transport::http {
namespace {

using ErrorCode = boost::system::error_code;
using Socket = asio::generic::stream_protocol::socket;

class SocketEnd : public FarEnd {
 public:
  SocketEnd(std::unique_ptr<core::ByteStream> stream, Socket socket)
      : stream_(std::move(stream)), socket_(std::move(socket)) {}

  asio::awaitable<base::Result<std::size_t>> Read(std::span<char> room) override {
    ErrorCode error;
    const auto buffer = asio::buffer(room.data(), room.size());
    const std::size_t got = co_await socket_.async_read_some(buffer, asio::redirect_error(asio::use_awaitable, error));
    if (error && error != asio::error::eof) co_return base::Err(base::Code::kUnavailable, error.message());
    co_return got;
  }

  asio::awaitable<bool> Write(std::string_view bytes) override {
    ErrorCode error;
    while (!bytes.empty() && !error) {
      const auto buffer = asio::buffer(bytes.data(), bytes.size());
      const std::size_t written =
          co_await socket_.async_write_some(buffer, asio::redirect_error(asio::use_awaitable, error));
      bytes.remove_prefix(written);
    }
    co_return !error;
  }

  void CloseWrite() override { (void)stream_->CloseWrite(); }
  void Close() override {
    ErrorCode ignored;
    socket_.close(ignored);
    stream_->Close();
  }

 private:
  std::unique_ptr<core::ByteStream> stream_;
  Socket socket_;
};

class BlockingEnd : public FarEnd {
 public:
  BlockingEnd(std::unique_ptr<core::ByteStream> stream, Loop loop, base::WorkerPool& workers,
              std::chrono::milliseconds patience)
      : stream_(std::move(stream)), loop_(std::move(loop)), workers_(workers), patience_(patience) {}

  asio::awaitable<base::Result<std::size_t>> Read(std::span<char> room) override {
    base::Result<std::size_t> got = base::Err(base::Code::kUnavailable, "no thread is free to read");
    std::function<void()> work = [this, room, &got] { got = ReadOnWorker(room); };
    co_await OnWorker(std::move(work));
    co_return got;
  }

  asio::awaitable<bool> Write(std::string_view bytes) override {
    bool written = false;
    std::function<void()> work = [this, bytes, &written] {
      written = stream_->Write(bytes, base::Deadline::After(patience_)).has_value();
    };
    co_await OnWorker(std::move(work));
    co_return written;
  }

  void CloseWrite() override { (void)stream_->CloseWrite(); }
  void Close() override {
    closed_ = true;
    stream_->Close();
  }

 private:
  // Waits for the end of the work, whatever becomes of the tunnel, since the work uses what the caller holds.
  asio::awaitable<void> OnWorker(std::function<void()> work) {
    Event done(*loop_);
    std::function<void()> all = [work = std::move(work), &done, loop = loop_] {
      work();
      asio::post(*loop, [&done] { done.Notify(); });
    };
    if (!closed_ && workers_.Submit(std::move(all))) co_await done.Wait();
  }

  // Waits one second at a time, for a stream that is slow to notice that it was closed.
  base::Result<std::size_t> ReadOnWorker(std::span<char> room) {
    constexpr std::chrono::seconds kTurn{1};
    for (;;) {
      auto got = stream_->Read(room, base::Deadline::After(kTurn));
      if (got || got.error().code != base::Code::kTimeout || closed_) return got;
    }
  }

  std::unique_ptr<core::ByteStream> stream_;
  Loop loop_;
  base::WorkerPool& workers_;
  std::chrono::milliseconds patience_;
  std::atomic<bool> closed_ = false;
};

// Duplicates the descriptor: the loop closes its own.
base::Result<Socket> AdoptSocket(int borrowed, const Loop& loop) {
  base::UniqueFd fd(::fcntl(borrowed, F_DUPFD_CLOEXEC, 0));
  if (!fd.valid()) return os::ErrnoErr("the socket of a tunnel");
  int family = 0;
  socklen_t length = sizeof(family);
  if (::getsockopt(fd.get(), SOL_SOCKET, SO_DOMAIN, &family, &length) < 0)
    return os::ErrnoErr("the socket of a tunnel");
  // No Nagle delay: the bytes that are passed on have been waited for already.
  const int on = 1;
  if (family == AF_INET || family == AF_INET6) ::setsockopt(fd.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
  Socket socket(*loop);
  ErrorCode error;
  socket.assign(asio::generic::stream_protocol(family, 0), fd.get(), error);
  if (error) return base::Err(base::Code::kInternal, "the socket of a tunnel: " + error.message());
  (void)fd.Release();
  socket.non_blocking(true, error);
  return socket;
}

}  // namespace

base::Result<std::unique_ptr<FarEnd>> MakeFarEnd(std::unique_ptr<core::ByteStream> stream, Loop loop,
                                                 base::WorkerPool& workers, std::chrono::milliseconds patience) {
  if (stream->fd() < 0) return std::make_unique<BlockingEnd>(std::move(stream), std::move(loop), workers, patience);
  SKERRY_ASSIGN_OR_RETURN(Socket socket, AdoptSocket(stream->fd(), loop));
  return std::make_unique<SocketEnd>(std::move(stream), std::move(socket));
}

}  // namespace skerry::transport::http
