#include "os/socket.hpp"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "os/errno_error.hpp"

namespace skerry::os {
namespace {

using ControlBuffer = std::array<char, CMSG_SPACE(sizeof(int) * kMaxMessageFds)>;

std::vector<base::UniqueFd> TakeDescriptors(msghdr& header) {
  std::vector<base::UniqueFd> fds;
  for (cmsghdr* part = CMSG_FIRSTHDR(&header); part != nullptr; part = CMSG_NXTHDR(&header, part)) {
    if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS) continue;
    const std::size_t count = (part->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (std::size_t i = 0; i < count; ++i) {
      int fd = -1;
      std::memcpy(&fd, CMSG_DATA(part) + i * sizeof(int), sizeof fd);
      fds.emplace_back(fd);
    }
  }
  return fds;
}

base::Status WaitReadable(int socket, base::Deadline deadline) {
  for (;;) {
    pollfd entry{socket, POLLIN, 0};
    const int ready = ::poll(&entry, 1, deadline.PollTimeoutMs());
    if (ready > 0) return {};
    if (ready == 0 && deadline.Expired()) return base::Err(base::Code::kTimeout, "no message before the deadline");
    if (ready < 0 && errno != EINTR) return ErrnoErr("poll socket");
  }
}

}  // namespace

base::Result<SocketPair> SocketPair::Create() {
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) < 0) return ErrnoErr("socketpair");
  SocketPair pair{base::UniqueFd(ends[0]), base::UniqueFd(ends[1])};
  for (const int end : ends) {
    const int size = 2 * static_cast<int>(kMaxMessageBytes);
    // Best effort: without privilege the kernel caps it at wmem_max, and a message too large is refused when sent.
    if (::setsockopt(end, SOL_SOCKET, SO_SNDBUFFORCE, &size, sizeof size) < 0)
      ::setsockopt(end, SOL_SOCKET, SO_SNDBUF, &size, sizeof size);
  }
  return pair;
}

int SendDescriptors(int socket, std::string_view bytes, std::span<const int> fds) {
  if (fds.size() > kMaxMessageFds) return E2BIG;
  iovec part{const_cast<char*>(bytes.data()), bytes.size()};
  msghdr header{};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  alignas(cmsghdr) ControlBuffer control{};
  if (!fds.empty()) {
    header.msg_control = control.data();
    header.msg_controllen = CMSG_SPACE(fds.size_bytes());
    cmsghdr* rights = CMSG_FIRSTHDR(&header);
    rights->cmsg_level = SOL_SOCKET;
    rights->cmsg_type = SCM_RIGHTS;
    rights->cmsg_len = CMSG_LEN(fds.size_bytes());
    std::memcpy(CMSG_DATA(rights), fds.data(), fds.size_bytes());
  }
  for (;;) {
    if (::sendmsg(socket, &header, MSG_NOSIGNAL) >= 0) return 0;
    if (errno != EINTR) return errno;
  }
}

base::Status SendMessage(int socket, std::string_view bytes, std::span<const int> fds) {
  if (bytes.empty() || bytes.size() > kMaxMessageBytes || fds.size() > kMaxMessageFds)
    return base::Err(base::Code::kTooLarge, "message too large");
  const int error = SendDescriptors(socket, bytes, fds);
  if (error != 0) return ErrnoErr("sendmsg", error);
  return {};
}

base::Result<Message> ReceiveMessage(int socket, base::Deadline deadline) {
  SKERRY_RETURN_IF_ERROR(WaitReadable(socket, deadline));
  Message message;
  // Most messages are short, and clearing a buffer for the longest takes longer than reading them: look at the size
  // first.
  const ssize_t size = ::recv(socket, nullptr, 0, MSG_PEEK | MSG_TRUNC | MSG_DONTWAIT);
  message.bytes.resize(size < 0 ? kMaxMessageBytes
                                : std::clamp<std::size_t>(static_cast<std::size_t>(size), 1, kMaxMessageBytes));
  iovec part{message.bytes.data(), message.bytes.size()};
  alignas(cmsghdr) ControlBuffer control{};
  msghdr header{};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  header.msg_control = control.data();
  header.msg_controllen = control.size();
  ssize_t count = -1;
  do {
    count = ::recvmsg(socket, &header, MSG_CMSG_CLOEXEC);
    // When a peer ended with unread data, there is one reset before its last messages and the end.
  } while (count < 0 && (errno == EINTR || errno == ECONNRESET));
  if (count < 0) return ErrnoErr("recvmsg");
  message.fds = TakeDescriptors(header);
  if ((header.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) != 0) return base::Err(base::Code::kTooLarge, "message was cut");
  message.bytes.resize(static_cast<std::size_t>(count));
  return message;
}

}  // namespace skerry::os
