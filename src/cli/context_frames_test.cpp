#include "cli/context_frames.hpp"

#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <thread>

#include <gtest/gtest.h>

#include "base/unique_fd.hpp"

namespace skerry::cli {
namespace {

using std::chrono_literals::operator""ms;
using std::chrono_literals::operator""s;

class ContextFramesTest : public testing::Test {
 protected:
  ContextFramesTest() {
    std::array<int, 2> fds{};
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds.data()), 0);
    first_ = base::UniqueFd(fds[0]);
    second_ = base::UniqueFd(fds[1]);
  }
  void SendRaw(std::string_view bytes) const {
    ASSERT_EQ(::write(first_.get(), bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
  }

  base::UniqueFd first_;
  base::UniqueFd second_;
};

TEST_F(ContextFramesTest, FramesKeepTheirBordersAndOrder) {
  ASSERT_TRUE(SendFrame(first_.get(), "one", base::Deadline::After(1s)).has_value());
  ASSERT_TRUE(SendFrame(first_.get(), "", base::Deadline::After(1s)).has_value());
  ASSERT_TRUE(SendFrame(first_.get(), std::string("\0{}", 3), base::Deadline::After(1s)).has_value());
  FrameReader reader(second_.get());
  EXPECT_EQ(reader.Next(base::Deadline::After(1s)).value(), "one");
  EXPECT_EQ(reader.Next(base::Deadline::After(1s)).value(), "");
  EXPECT_EQ(reader.Next(base::Deadline::After(1s)).value(), std::string("\0{}", 3));
}

TEST_F(ContextFramesTest, AFrameInPiecesIsPutTogether) {
  const std::string frame = FrameOf("hello");
  FrameReader reader(second_.get());
  for (const char c : frame) {
    EXPECT_FALSE(reader.Take().has_value());
    SendRaw(std::string(1, c));
    EXPECT_TRUE(reader.Fill());
  }
  EXPECT_EQ(reader.Take(), "hello");
}

TEST_F(ContextFramesTest, ALargeFrameArrivesWhole) {
  const std::string text(5'000'000, 'x');
  std::jthread sender([&] { EXPECT_TRUE(SendFrame(first_.get(), text, base::Deadline::After(20s)).has_value()); });
  FrameReader reader(second_.get());
  EXPECT_EQ(reader.Next(base::Deadline::After(20s)).value(), text);
}

TEST_F(ContextFramesTest, ALengthBeyondTheBoundBreaksTheStream) {
  SendRaw("\xff\xff\xff\xffrest");
  FrameReader reader(second_.get());
  EXPECT_FALSE(reader.Fill());
  EXPECT_FALSE(reader.Take().has_value());
  EXPECT_EQ(SendFrame(first_.get(), std::string(kMaxFrameBytes + 1, 'x'), base::Deadline::After(1s)).error().code,
            base::Code::kTooLarge);
}

TEST_F(ContextFramesTest, TheEndIsNoFrameAndSilenceIsATimeout) {
  FrameReader reader(second_.get());
  EXPECT_EQ(reader.Next(base::Deadline::After(20ms)).error().code, base::Code::kTimeout);
  SendRaw(FrameOf("whole") + FrameOf("cut").substr(0, 5));
  first_.Reset();
  EXPECT_EQ(reader.Next(base::Deadline::After(1s)).value(), "whole");
  EXPECT_EQ(reader.Next(base::Deadline::After(1s)).value(), std::nullopt);
}

TEST_F(ContextFramesTest, AReaderWhoStoppedReadingIsNotWaitedForWithoutEnd) {
  EXPECT_EQ(SendFrame(first_.get(), std::string(5'000'000, 'x'), base::Deadline::After(50ms)).error().code,
            base::Code::kTimeout);
}

}  // namespace
}  // namespace skerry::cli
