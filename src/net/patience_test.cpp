#include "net/patience.hpp"

#include <poll.h>
#include <unistd.h>

#include <chrono>
#include <optional>
#include <thread>

#include <gtest/gtest.h>

#include "os/pipe.hpp"

namespace skerry::net {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

class PatienceTest : public testing::Test {
 protected:
  void SetUp() override {
    auto made = os::Pipe::Create();
    ASSERT_TRUE(made.has_value());
    pipe_.emplace(std::move(*made));
  }
  void MakeReady() const { ASSERT_EQ(::write(pipe_->write_end.get(), "x", 1), 1); }

  std::optional<os::Pipe> pipe_;
  std::stop_source source_;
};

TEST_F(PatienceTest, SeesWhatIsReady) {
  MakeReady();
  Patience patience(base::Deadline::After(10s), source_.get_token());
  EXPECT_TRUE(patience.Await(pipe_->read_end.get(), POLLIN));
}

TEST_F(PatienceTest, SeesWhatIsReadyAlsoWhenItIsOver) {
  MakeReady();
  source_.request_stop();
  Patience stopped(base::Deadline::Never(), source_.get_token());
  EXPECT_TRUE(stopped.Await(pipe_->read_end.get(), POLLIN));
  Patience late(base::Deadline::After(0s), {});
  EXPECT_TRUE(late.Await(pipe_->read_end.get(), POLLIN));
}

TEST_F(PatienceTest, EndsAtTheDeadline) {
  Patience patience(base::Deadline::After(20ms), source_.get_token());
  EXPECT_FALSE(patience.Await(pipe_->read_end.get(), POLLIN));
  EXPECT_TRUE(patience.IsOver());
  EXPECT_EQ(patience.Fault("daemon").error().message, "the daemon did not answer in time");
}

TEST_F(PatienceTest, EndsWithARequestToStop) {
  Patience patience(base::Deadline::Never(), source_.get_token());
  const std::jthread stopper([this] {
    std::this_thread::sleep_for(20ms);
    source_.request_stop();
  });
  EXPECT_FALSE(patience.Await(pipe_->read_end.get(), POLLIN));
  EXPECT_EQ(patience.Fault("daemon").error().code, base::Code::kTimeout);
  EXPECT_EQ(patience.Fault("daemon").error().message, "the request to the daemon was given up");
}

TEST_F(PatienceTest, APauseEndsWithARequestToStop) {
  Patience patience(base::Deadline::Never(), source_.get_token());
  EXPECT_TRUE(patience.Pause(1ms));
  const auto begin = Clock::now();
  const std::jthread stopper([this] {
    std::this_thread::sleep_for(20ms);
    source_.request_stop();
  });
  EXPECT_FALSE(patience.Pause(1min));
  EXPECT_LT(Clock::now() - begin, 30s);
}

TEST_F(PatienceTest, APauseEndsAtTheDeadline) {
  Patience patience(base::Deadline::After(20ms), {});
  EXPECT_FALSE(patience.Pause(1min));
}

TEST_F(PatienceTest, IsEndlessWhereNothingCanEndIt) {
  EXPECT_TRUE(Patience(base::Deadline::Never(), {}).IsEndless());
  EXPECT_FALSE(Patience(base::Deadline::Never(), source_.get_token()).IsEndless());
  EXPECT_FALSE(Patience(base::Deadline::After(1s), {}).IsEndless());
}

}  // namespace
}  // namespace skerry::net
