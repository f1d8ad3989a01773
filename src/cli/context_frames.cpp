#include "cli/context_frames.hpp"

#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstdint>

#include "os/errno_error.hpp"

namespace skerry::cli {
namespace {

constexpr std::size_t kHeaderBytes = 4;

std::string HeaderOf(std::size_t size) {
  std::string header;
  for (unsigned shift = 32; shift > 0; shift -= 8) header += static_cast<char>((size >> (shift - 8)) & 0xFFU);
  return header;
}

std::size_t SizeIn(std::string_view header) {
  std::size_t size = 0;
  for (const char c : header) size = (size << 8U) | static_cast<unsigned char>(c);
  return size;
}

base::Status SendAll(int socket, std::string_view bytes, base::Deadline deadline) {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent > 0) bytes.remove_prefix(static_cast<std::size_t>(sent));
    if (sent >= 0 || errno == EINTR) continue;
    if (errno != EAGAIN) return os::ErrnoErr("send");
    pollfd entry{socket, POLLOUT, 0};
    if (::poll(&entry, 1, deadline.PollTimeoutMs()) == 0 && deadline.Expired())
      return base::Err(base::Code::kTimeout, "the other side does not read");
  }
  return {};
}

}  // namespace

std::string FrameOf(std::string_view text) {
  return HeaderOf(text.size()).append(text);
}

base::Status SendFrame(int socket, std::string_view text, base::Deadline deadline) {
  if (text.size() > kMaxFrameBytes)
    return base::Err(base::Code::kTooLarge,
                     "more than " + std::to_string(kMaxFrameBytes >> 20U) + " MB in one piece; ask for less");
  SKERRY_RETURN_IF_ERROR(SendAll(socket, HeaderOf(text.size()), deadline));
  return SendAll(socket, text, deadline);
}

bool FrameReader::Fill() {
  std::array<char, 65536> buffer;  // NOLINT(cppcoreguidelines-pro-type-member-init): filled by recv
  const ssize_t count = ::recv(socket_, buffer.data(), buffer.size(), MSG_DONTWAIT);
  if (count < 0) return errno == EAGAIN || errno == EINTR;
  bytes_.append(buffer.data(), static_cast<std::size_t>(count));
  broken_ = broken_ || (bytes_.size() >= kHeaderBytes &&
                        SizeIn(std::string_view(bytes_).substr(0, kHeaderBytes)) > kMaxFrameBytes);
  return count > 0 && !broken_;
}

std::optional<std::string> FrameReader::Take() {
  if (broken_ || bytes_.size() < kHeaderBytes) return std::nullopt;
  const std::size_t size = SizeIn(std::string_view(bytes_).substr(0, kHeaderBytes));
  broken_ = size > kMaxFrameBytes;
  if (broken_ || bytes_.size() - kHeaderBytes < size) return std::nullopt;
  std::string text = bytes_.substr(kHeaderBytes, size);
  bytes_.erase(0, kHeaderBytes + size);
  return text;
}

base::Result<std::optional<std::string>> FrameReader::Next(base::Deadline deadline) {
  for (;;) {
    if (auto text = Take()) return text;
    pollfd entry{socket_, POLLIN, 0};
    const int ready = ::poll(&entry, 1, deadline.PollTimeoutMs());
    if (ready == 0 && deadline.Expired()) return base::Err(base::Code::kTimeout, "the other side says nothing");
    if (ready < 0 && errno != EINTR) return os::ErrnoErr("poll");
    if (ready > 0 && !Fill()) return Take();
  }
}

}  // namespace skerry::cli
