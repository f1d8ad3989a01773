#include "cli/context_sink.hpp"

#include <sys/socket.h>

#include <array>
#include <chrono>
#include <thread>

#include <gtest/gtest.h>

#include "cli/context_frames.hpp"

namespace skerry::cli {
namespace {

using std::chrono_literals::operator""ms;
using std::chrono_literals::operator""s;
using Clock = std::chrono::steady_clock;

class ContextSinkTest : public testing::Test {
 protected:
  ContextSinkTest() {
    std::array<int, 2> fds{};
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds.data()), 0);
    keeper_ = base::UniqueFd(fds[0]);
    client_ = base::UniqueFd(fds[1]);
  }

  base::UniqueFd keeper_;
  base::UniqueFd client_;
  std::stop_source stop_;
};

TEST_F(ContextSinkTest, OutputBecomesFrames) {
  ContextSink sink(keeper_.get(), stop_);
  EXPECT_EQ(sink.Write(core::Stream::kStdout, "a\n", base::Deadline::After(1s)).accepted, 2U);
  EXPECT_EQ(sink.Write(core::Stream::kStderr, "\xff", base::Deadline::After(1s)).accepted, 1U);
  EXPECT_TRUE(sink.Finish(base::Deadline::After(1s)));
  FrameReader reader(client_.get());
  EXPECT_EQ(reader.Next(base::Deadline::After(1s)).value(), R"({"stream":"stdout","data_base64":"YQo="})");
  EXPECT_EQ(reader.Next(base::Deadline::After(1s)).value(), R"({"stream":"stderr","data_base64":"/w=="})");
}

TEST_F(ContextSinkTest, AClientWhoIsGoneStopsTheCellAndNothingElse) {
  ContextSink sink(keeper_.get(), stop_);
  client_.Reset();
  const core::SinkAnswer answer = sink.Write(core::Stream::kStdout, "abc", base::Deadline::After(1s));
  EXPECT_EQ(answer.accepted, 3U);
  EXPECT_TRUE(answer.wants_more);
  EXPECT_TRUE(stop_.stop_requested());
  EXPECT_FALSE(sink.Finish(base::Deadline::After(1s)));
}

TEST_F(ContextSinkTest, AClientWhoDoesNotReadIsWaitedForUntilTheDeadline) {
  ContextSink sink(keeper_.get(), stop_);
  const std::string block(4U << 20U, 'x');
  const auto start = Clock::now();
  EXPECT_EQ(sink.Write(core::Stream::kStdout, block, base::Deadline::After(200ms)).accepted, block.size());
  EXPECT_GE(Clock::now() - start, 200ms);
  EXPECT_LT(Clock::now() - start, 30s);
  EXPECT_FALSE(stop_.stop_requested());
  // What it has not read yet comes later, whole.
  std::jthread finishing([&] { EXPECT_TRUE(sink.Finish(base::Deadline::After(20s))); });
  FrameReader reader(client_.get());
  EXPECT_GT(reader.Next(base::Deadline::After(20s)).value()->size(), block.size());
}

TEST_F(ContextSinkTest, AStopEndsTheWaiting) {
  ContextSink sink(keeper_.get(), stop_);
  std::jthread later([this] {
    std::this_thread::sleep_for(100ms);
    stop_.request_stop();
  });
  const auto start = Clock::now();
  (void)sink.Write(core::Stream::kStdout, std::string(4U << 20U, 'x'), base::Deadline::After(60s));
  EXPECT_LT(Clock::now() - start, 40s);
}

}  // namespace
}  // namespace skerry::cli
