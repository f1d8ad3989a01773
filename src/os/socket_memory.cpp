#include "os/socket_memory.hpp"

#include <fcntl.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/sock_diag.h>
#include <linux/unix_diag.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <cstring>
#include <string_view>

namespace skerry::os {
namespace {

template <class Request>
struct Question {
  nlmsghdr header{};
  Request request{};
};

template <class Request>
bool Ask(int diagnosis, const Request& request) {
  Question<Request> question{.request = request};
  question.header = {
      .nlmsg_len = sizeof question, .nlmsg_type = SOCK_DIAG_BY_FAMILY, .nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP};
  return ::send(diagnosis, &question, sizeof question, MSG_DONTWAIT) == static_cast<ssize_t>(sizeof question);
}

// Bytes that are received or queued for sending; a sent message counts for its sender until it is read.
std::uint64_t InMessage(nlmsghdr* header, std::size_t body, unsigned short wanted) {
  if (header->nlmsg_len < NLMSG_LENGTH(body)) return 0;
  auto* attribute = reinterpret_cast<rtattr*>(static_cast<char*>(NLMSG_DATA(header)) + NLMSG_ALIGN(body));
  auto left = static_cast<int>(header->nlmsg_len - NLMSG_LENGTH(NLMSG_ALIGN(body)));
  for (; RTA_OK(attribute, left); attribute = RTA_NEXT(attribute, left)) {
    if (attribute->rta_type != wanted) continue;
    std::array<std::uint32_t, SK_MEMINFO_VARS> numbers{};
    std::memcpy(numbers.data(), RTA_DATA(attribute), std::min<std::size_t>(sizeof numbers, RTA_PAYLOAD(attribute)));
    return std::uint64_t{numbers[SK_MEMINFO_RMEM_ALLOC]} +
           std::max(numbers[SK_MEMINFO_WMEM_ALLOC], numbers[SK_MEMINFO_WMEM_QUEUED]);
  }
  return 0;
}

// Reads to the end of one answer.
std::uint64_t SumAnswers(int diagnosis, std::size_t body, unsigned short wanted) {
  std::uint64_t sum = 0;
  for (;;) {
    alignas(nlmsghdr) std::array<char, 32768> buffer;  // NOLINT(cppcoreguidelines-pro-type-member-init): filled by recv
    const ssize_t count = ::recv(diagnosis, buffer.data(), buffer.size(), 0);
    if (count <= 0) return sum;
    auto left = static_cast<unsigned>(count);
    for (auto* header = reinterpret_cast<nlmsghdr*>(buffer.data()); NLMSG_OK(header, left);
         header = NLMSG_NEXT(header, left)) {
      if (header->nlmsg_type == NLMSG_DONE || header->nlmsg_type == NLMSG_ERROR) return sum;
      sum += InMessage(header, body, wanted);
    }
  }
}

std::uint64_t InternetSockets(int diagnosis, std::uint8_t family, std::uint8_t protocol) {
  const inet_diag_req_v2 request{.sdiag_family = family,
                                 .sdiag_protocol = protocol,
                                 .idiag_ext = 1U << (INET_DIAG_SKMEMINFO - 1U),
                                 .pad = 0,
                                 .idiag_states = ~0U,
                                 .id = {}};
  if (!Ask(diagnosis, request)) return 0;
  return SumAnswers(diagnosis, sizeof(inet_diag_msg), INET_DIAG_SKMEMINFO);
}

std::uint64_t UnixSockets(int diagnosis) {
  const unix_diag_req request{.sdiag_family = AF_UNIX,
                              .sdiag_protocol = 0,
                              .pad = 0,
                              .udiag_states = ~0U,
                              .udiag_ino = 0,
                              .udiag_show = UDIAG_SHOW_MEMINFO,
                              .udiag_cookie = {}};
  if (!Ask(diagnosis, request)) return 0;
  return SumAnswers(diagnosis, sizeof(unix_diag_msg), UNIX_DIAG_MEMINFO);
}

}  // namespace

int OpenSocketDiagnosis() {
  const int fd = ::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
  // A missing answer must not hold up the watch over all sandboxes.
  const timeval patience{.tv_sec = 0, .tv_usec = 100'000};
  if (fd >= 0) (void)::setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  return fd;
}

int OpenSocketCount() {
  return ::open("/proc/thread-self/net/sockstat", O_RDONLY | O_CLOEXEC);
}

std::uint64_t SocketsInUse(int count) {
  constexpr std::string_view kFirst = "sockets: used ";
  std::array<char, 64> text{};
  const ssize_t size = ::pread(count, text.data(), text.size(), 0);
  std::uint64_t used = 0;
  if (size > static_cast<ssize_t>(kFirst.size()) && std::string_view(text.data(), kFirst.size()) == kFirst)
    std::from_chars(text.data() + kFirst.size(), text.data() + size, used);
  return used;
}

std::uint64_t SocketMemory(int diagnosis) {
  std::uint64_t sum = UnixSockets(diagnosis);
  for (const int family : {AF_INET, AF_INET6})
    for (const int protocol : {IPPROTO_TCP, IPPROTO_UDP})
      sum += InternetSockets(diagnosis, static_cast<std::uint8_t>(family), static_cast<std::uint8_t>(protocol));
  return sum;
}

}  // namespace skerry::os
