// FarEnd: the program's end of a tunnel, for coroutines of the socket thread.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <span>
#include <string_view>

#include <boost/asio/awaitable.hpp>

#include "base/result.hpp"
#include "base/worker_pool.hpp"
#include "core/byte_stream.hpp"
#include "transport/http/loop.hpp"

namespace skerry::transport::http {

// One coroutine may read while another writes. Must live until both have returned, which they do soon after Close.
class FarEnd {
 public:
  FarEnd() = default;
  FarEnd(const FarEnd&) = delete;
  FarEnd& operator=(const FarEnd&) = delete;
  virtual ~FarEnd() = default;

  // 0: the program sends nothing more. An error: its last bytes may be missing.
  virtual asio::awaitable<base::Result<std::size_t>> Read(std::span<char> room) = 0;
  // False: the program takes nothing more.
  virtual asio::awaitable<bool> Write(std::string_view bytes) = 0;
  virtual void CloseWrite() = 0;
  virtual void Close() = 0;
};

// Uses the loop itself where the stream has a socket. Otherwise a worker waits for each Read and each Write, for a
// Write `patience` at most.
base::Result<std::unique_ptr<FarEnd>> MakeFarEnd(std::unique_ptr<core::ByteStream> stream, Loop loop,
                                                 base::WorkerPool& workers, std::chrono::milliseconds patience);

}  // namespace skerry::transport::http
