// Unix sockets that keep message borders and carry file descriptors.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/deadline.hpp"
#include "base/result.hpp"
#include "base/unique_fd.hpp"

namespace skerry::os {

inline constexpr std::size_t kMaxMessageBytes = std::size_t{256} << 10U;
inline constexpr std::size_t kMaxMessageFds = 64;

struct SocketPair {
  base::UniqueFd first;
  base::UniqueFd second;

  // SOCK_SEQPACKET, close-on-exec, with a send buffer for one message of kMaxMessageBytes where the kernel allows it.
  static base::Result<SocketPair> Create();
};

struct Message {
  std::string bytes;
  std::vector<base::UniqueFd> fds;
  [[nodiscard]] bool EndOfStream() const { return bytes.empty() && fds.empty(); }
};

// The descriptors stay the caller's. Never raises SIGPIPE.
base::Status SendMessage(int socket, std::string_view bytes, std::span<const int> fds = {});

// As SendMessage without allocation, for use after clone: 0 or an errno. At most kMaxMessageFds descriptors.
int SendDescriptors(int socket, std::string_view bytes, std::span<const int> fds);

// One whole message, or an empty one when the other side has closed. A message that was cut is an error, and
// descriptors that came with it are closed. kTimeout at the deadline.
base::Result<Message> ReceiveMessage(int socket, base::Deadline deadline);

}  // namespace skerry::os
