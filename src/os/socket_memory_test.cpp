#include "os/socket_memory.hpp"

#include <sys/socket.h>

#include <string>

#include <gtest/gtest.h>

#include "base/unique_fd.hpp"
#include "os/socket.hpp"

namespace skerry::os {
namespace {

TEST(SocketMemoryTest, WhatNobodyReadsIsCounted) {
  const base::UniqueFd diagnosis(OpenSocketDiagnosis());
  ASSERT_TRUE(diagnosis.valid());
  const std::uint64_t before = SocketMemory(diagnosis.get());
  const auto pair = SocketPair::Create().value();
  const std::string block(100'000, 'x');
  ASSERT_TRUE(SendMessage(pair.first.get(), block).has_value());
  const std::uint64_t after = SocketMemory(diagnosis.get());
  if (before == 0 && after == 0) GTEST_SKIP() << "this kernel has no diagnosis of unix sockets";
  EXPECT_GE(after, block.size());
}

TEST(SocketMemoryTest, SocketsAreCounted) {
  const base::UniqueFd count(OpenSocketCount());
  ASSERT_TRUE(count.valid());
  const std::uint64_t before = SocketsInUse(count.get());
  std::array<base::UniqueFd, 50> sockets;
  for (base::UniqueFd& socket : sockets) socket.Reset(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  // Other processes open and close sockets too.
  EXPECT_GT(SocketsInUse(count.get()) + 20, before + sockets.size());
}

}  // namespace
}  // namespace skerry::os
