#include "net/upgraded_stream.hpp"

#include <poll.h>

#include <utility>

namespace skerry::net {

using Kind = Progress::Kind;

UpgradedStream::UpgradedStream(const Endpoint& endpoint, std::unique_ptr<Socket> socket, std::string early)
    : called_(endpoint.called),
      socket_(std::move(socket)),
      is_plain_(!socket_->HasTls() && early.empty()),
      early_(std::move(early)) {}

std::unexpected<base::Error> UpgradedStream::Lost(const std::string& why) const {
  if (closed_) return base::Err(base::Code::kUnavailable, "the connection to the " + called_ + " was closed");
  return base::Err(base::Code::kUnavailable,
                   "the connection to the " + called_ + " was lost" + (why.empty() ? "" : ": " + why));
}

short UpgradedStream::FinishCloseWrite() {
  if (!close_write_pending_) return 0;
  if (socket_->TryCloseWrite().WantsWait()) return POLLOUT;
  close_write_pending_ = false;
  return 0;
}

base::Result<std::size_t> UpgradedStream::Read(std::span<char> room, base::Deadline deadline) {
  if (closed_) return Lost("");
  if (!early_.empty()) {
    const std::size_t size = early_.copy(room.data(), room.size());
    early_.erase(0, size);
    return size;
  }
  Patience patience(deadline, {});
  for (;;) {
    const short besides = FinishCloseWrite();
    const Progress progress = socket_->TryRead(room);
    if (closed_) return Lost("");
    if (progress.kind == Kind::kMoved) return progress.bytes;
    if (progress.kind == Kind::kEnd) return std::size_t{0};
    if (progress.kind == Kind::kBroken) return Lost(progress.why);
    if (!socket_->Await(progress, patience, besides)) return patience.Fault(called_);
  }
}

base::Status UpgradedStream::Write(std::string_view bytes, base::Deadline deadline) {
  Patience patience(deadline, {});
  while (!bytes.empty()) {
    if (closed_) return Lost("");
    const Progress progress = socket_->TryWrite(bytes);
    if (progress.kind == Kind::kMoved) {
      bytes.remove_prefix(progress.bytes);
    } else if (!progress.WantsWait()) {
      return Lost(progress.why);
    } else if (!socket_->Await(progress, patience)) {
      return patience.Fault(called_);
    }
  }
  return {};
}

base::Status UpgradedStream::CloseWrite() {
  const Progress progress = socket_->TryCloseWrite();
  if (progress.kind == Kind::kBroken) return Lost(progress.why);
  close_write_pending_ = progress.WantsWait();
  return {};
}

void UpgradedStream::Close() {
  if (!closed_.exchange(true)) socket_->Shutdown();
}

int UpgradedStream::fd() const {
  return is_plain_ ? socket_->fd() : -1;
}

}  // namespace skerry::net
