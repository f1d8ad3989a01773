// UpgradedStream: the bytes of a connection that left HTTP by an upgrade.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "core/byte_stream.hpp"
#include "net/endpoint.hpp"
#include "net/patience.hpp"
#include "net/socket.hpp"

namespace skerry::net {

class UpgradedStream final : public core::ByteStream {
 public:
  // `early` are the bytes that came together with the head of the answer.
  UpgradedStream(const Endpoint& endpoint, std::unique_ptr<Socket> socket, std::string early);

  base::Result<std::size_t> Read(std::span<char> room, base::Deadline deadline) override;
  base::Status Write(std::string_view bytes, base::Deadline deadline) override;
  base::Status CloseWrite() override;
  void Close() override;
  // None with TLS, or with early bytes.
  [[nodiscard]] int fd() const override;

 private:
  std::unexpected<base::Error> Lost(const std::string& why) const;
  // What is left of a CloseWrite that the socket had no room for; gives the events of poll to wait for besides.
  short FinishCloseWrite();

  const std::string called_;  // the server, in messages
  const std::unique_ptr<Socket> socket_;
  const bool is_plain_;  // the descriptor carries all bytes, and nothing else
  std::string early_;    // not given to Read yet; only the reading thread uses it
  std::atomic<bool> closed_ = false;
  std::atomic<bool> close_write_pending_ = false;
};

}  // namespace skerry::net
