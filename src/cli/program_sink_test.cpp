#include "cli/program_sink.hpp"

#include <fcntl.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <string>

#include <gtest/gtest.h>

#include "os/pipe.hpp"

namespace skerry::cli {
namespace {

using core::Stream;
using std::chrono_literals::operator""ms;

class ProgramSinkTest : public testing::Test {
 protected:
  ProgramSinkTest() { ::fcntl(out_.read_end.get(), F_SETFL, O_NONBLOCK); }
  std::string Read() {
    std::string all(1 << 20, '\0');
    const ssize_t got = ::read(out_.read_end.get(), all.data(), all.size());
    all.resize(static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
    return all;
  }

  os::Pipe out_ = os::Pipe::Create().value();
  base::UniqueFd interrupt_{::eventfd(0, EFD_CLOEXEC)};
  TerminalFilter filter_{TerminalFilter::Use::kLines};
  ProgramSink sink_{{.fd = out_.write_end.get(), .filter = filter_},
                    {.fd = out_.write_end.get(), .filter = filter_},
                    interrupt_.get()};
};

TEST_F(ProgramSinkTest, EachStreamHasItsOwnSequences) {
  (void)sink_.Write(Stream::kStdout, "out\x1b[", base::Deadline::Never());
  (void)sink_.Write(Stream::kStderr, "6nerr", base::Deadline::Never());
  (void)sink_.Write(Stream::kStdout, "1mmore", base::Deadline::Never());
  sink_.Finish();
  EXPECT_EQ(Read(), "out6nerr\x1b[1mmore\x1b[0m");
}

TEST_F(ProgramSinkTest, WhatDoesNotFitComesFirstNextTime) {
  const std::string much(1 << 18, 'x');
  EXPECT_EQ(sink_.Write(Stream::kStdout, much, base::Deadline::After(20ms)).accepted, much.size());
  EXPECT_EQ(sink_.Write(Stream::kStderr, "err", base::Deadline::After(20ms)).accepted, 0U);
  std::string all = Read();
  while (all.size() < much.size()) {
    (void)sink_.Write(Stream::kStderr, "", base::Deadline::After(20ms));
    all += Read();
  }
  EXPECT_EQ(sink_.Write(Stream::kStderr, "err", base::Deadline::After(20ms)).accepted, 3U);
  EXPECT_EQ(all + Read(), much + "err");
}

TEST_F(ProgramSinkTest, AfterAnInterruptTheTerminalIsAsItWas) {
  (void)sink_.Write(Stream::kStdout, "\x1b[?25l", base::Deadline::Never());
  ::eventfd_write(interrupt_.get(), 1);
  EXPECT_FALSE(sink_.Write(Stream::kStdout, "x", base::Deadline::Never()).wants_more);
  sink_.Finish();
  EXPECT_EQ(Read(), "\x1b[?25lx\x1b[?25h");
}

TEST_F(ProgramSinkTest, WithoutAFilterEveryBytePasses) {
  ProgramSink raw({.fd = out_.write_end.get()}, {.fd = out_.write_end.get()}, -1);
  (void)raw.Write(Stream::kStdout, "\x1b[6n", base::Deadline::Never());
  raw.Finish();
  EXPECT_EQ(Read(), "\x1b[6n");
}

}  // namespace
}  // namespace skerry::cli
