#include "os/pipe.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include <gtest/gtest.h>

namespace skerry::os {
namespace {

TEST(PipeTest, BothEndsCloseOnExec) {
  const auto pipe = Pipe::Create();
  ASSERT_TRUE(pipe.has_value());
  EXPECT_TRUE(::fcntl(pipe->read_end.get(), F_GETFD) & FD_CLOEXEC);
  EXPECT_TRUE(::fcntl(pipe->write_end.get(), F_GETFD) & FD_CLOEXEC);
}

TEST(PipeTest, NonBlockingReadOfNothingReturnsAtOnce) {
  const auto pipe = Pipe::Create();
  ASSERT_TRUE(pipe.has_value());
  ASSERT_TRUE(SetNonBlocking(pipe->read_end.get()).has_value());
  char byte = 0;
  EXPECT_LT(::read(pipe->read_end.get(), &byte, 1), 0);
  EXPECT_EQ(errno, EAGAIN);
}

}  // namespace
}  // namespace skerry::os
