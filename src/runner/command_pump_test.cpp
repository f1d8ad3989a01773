#include "runner/command_pump.hpp"

#include <sys/eventfd.h>

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "os/files.hpp"
#include "os/pipe.hpp"

namespace skerry::runner {
namespace {

using std::chrono_literals::operator""ms;
using std::chrono_literals::operator""s;

// Takes nothing while it is stalled, and everything afterwards.
class StallingSink : public core::OutputSink {
 public:
  core::SinkAnswer Write(core::Stream, std::string_view bytes, base::Deadline) override {
    if (stalled) return {.accepted = 0};
    taken.append(bytes);
    return {.accepted = bytes.size()};
  }
  bool stalled = false;
  std::string taken;
};

class CommandPumpTest : public testing::Test {
 protected:
  CommandPumpTest() {
    auto pipe = os::Pipe::Create().value();
    (void)os::SetNonBlocking(pipe.read_end.get());
    sources_.standard_output = std::move(pipe.read_end);
    writer_ = std::move(pipe.write_end);
    sources_.controls = {control_.get(), -1, -1};
  }

  StallingSink sink_;
  CommandPump pump_{sink_, 1U << 20U};
  base::UniqueFd control_{::eventfd(0, EFD_CLOEXEC)};
  base::UniqueFd writer_;
  CommandPump::Sources sources_;
  InputFeed no_input_;
};

TEST_F(CommandPumpTest, EndsWhenTheControlSocketSpeaks) {
  ASSERT_TRUE(os::WriteAll(writer_.get(), "out").has_value());
  ::eventfd_write(control_.get(), 1);
  EXPECT_EQ(pump_.Run(sources_, no_input_, base::Deadline::After(5s)).value(), PumpEnd::kControlReady);
  EXPECT_TRUE(pump_.Drain(sources_, base::Deadline::After(5s)));
  EXPECT_EQ(sink_.taken, "out");
}

TEST_F(CommandPumpTest, EndsAtTheDeadlineWhateverTheReaderDoes) {
  sink_.stalled = true;
  ASSERT_TRUE(os::WriteAll(writer_.get(), "out").has_value());
  EXPECT_EQ(pump_.Run(sources_, no_input_, base::Deadline::After(30ms)).value(), PumpEnd::kDeadline);
}

TEST_F(CommandPumpTest, WhatAStalledReaderDidNotTakeIsKeptForLater) {
  sink_.stalled = true;
  ASSERT_TRUE(os::WriteAll(writer_.get(), "first ").has_value());
  EXPECT_FALSE(pump_.Drain(sources_, base::Deadline::After(0s)));
  ASSERT_TRUE(os::WriteAll(writer_.get(), "second").has_value());
  EXPECT_FALSE(pump_.Drain(sources_, base::Deadline::After(0s)));
  sink_.stalled = false;
  EXPECT_TRUE(pump_.Drain(sources_, base::Deadline::Never()));
  EXPECT_EQ(sink_.taken, "first second");
}

TEST_F(CommandPumpTest, AWriterThatLivesOnIsNotWaitedFor) {
  ASSERT_TRUE(os::WriteAll(writer_.get(), "out").has_value());
  EXPECT_TRUE(pump_.Drain(sources_, base::Deadline::Never()));
  EXPECT_EQ(sink_.taken, "out");
}

TEST_F(CommandPumpTest, AWakeIsAReasonToLookAsWell) {
  const base::UniqueFd wake(::eventfd(1, EFD_CLOEXEC));
  sources_.controls[2] = wake.get();
  EXPECT_EQ(pump_.Run(sources_, no_input_, base::Deadline::After(5s)).value(), PumpEnd::kControlReady);
}

}  // namespace
}  // namespace skerry::runner
