#include "cli/fd_sink.hpp"

#include <signal.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <string>

#include <gtest/gtest.h>

#include "os/pipe.hpp"

namespace skerry::cli {
namespace {

using core::Stream;
using std::chrono_literals::operator""ms;

class FdSinkTest : public testing::Test {
 protected:
  os::Pipe out_ = os::Pipe::Create().value();
  base::UniqueFd interrupt_{::eventfd(0, EFD_CLOEXEC)};
  FdSink sink_{out_.write_end.get(), out_.write_end.get(), interrupt_.get()};
};

TEST_F(FdSinkTest, PassesBytesOn) {
  const auto answer = sink_.Write(Stream::kStdout, std::string_view("a\0b", 3), base::Deadline::Never());
  EXPECT_EQ(answer.accepted, 3U);
  std::string read(10, 'x');
  EXPECT_EQ(::read(out_.read_end.get(), read.data(), read.size()), 3);
  EXPECT_EQ(read.substr(0, 3), std::string("a\0b", 3));
}

TEST_F(FdSinkTest, AReaderWhoDoesNotReadHoldsNothingPastTheDeadline) {
  const std::string much(1 << 20, 'x');
  const auto answer = sink_.Write(Stream::kStdout, much, base::Deadline::After(30ms));
  EXPECT_LT(answer.accepted, much.size());
  EXPECT_TRUE(answer.wants_more);
}

TEST_F(FdSinkTest, AnInterruptEndsTheWait) {
  ::eventfd_write(interrupt_.get(), 1);
  EXPECT_FALSE(sink_.Write(Stream::kStdout, "x", base::Deadline::Never()).wants_more);
}

TEST_F(FdSinkTest, AReaderWhoIsGoneIsNoticed) {
  ::signal(SIGPIPE, SIG_IGN);
  out_.read_end.Reset();
  EXPECT_FALSE(sink_.Write(Stream::kStdout, "x", base::Deadline::Never()).wants_more);
  EXPECT_EQ(sink_.error(), EPIPE);
}

}  // namespace
}  // namespace skerry::cli
