#include "engine/run_controls.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <thread>

#include <gtest/gtest.h>

#include "base/unique_fd.hpp"
#include "engine/input_pump.hpp"

namespace skerry::engine {
namespace {

using std::chrono_literals::operator""ms;
using std::chrono_literals::operator""s;

// A process that takes so many bytes, and notes its calls.
class NotingProcess : public core::Process {
 public:
  explicit NotingProcess(std::size_t room = 1'000'000) : room_(room) {}
  base::Result<std::size_t> Feed(std::string_view bytes) override {
    const std::string_view fitting = bytes.substr(0, room_);
    room_ -= fitting.size();
    fed += fitting;
    return fitting.size();
  }
  [[nodiscard]] bool AwaitRoom(base::Deadline deadline) override {
    while (room_ == 0 && !deadline.Expired()) std::this_thread::sleep_for(1ms);
    return room_ != 0;
  }
  base::Status CloseInput() override {
    closed = true;
    return {};
  }
  base::Status Signal(int number) override {
    signals.push_back(number);
    return {};
  }
  base::Status Resize(const core::TerminalSize& size) override {
    sizes.push_back(size);
    return {};
  }
  base::Result<core::CommandResult> Await(std::stop_token) override { return core::CommandResult{}; }

  std::string fed;
  std::atomic<bool> closed = false;
  std::vector<int> signals;
  std::vector<core::TerminalSize> sizes;

 private:
  std::size_t room_;
};

TEST(RunControlsTest, WhatCameBeforeTheProgramIsItsFirstInput) {
  RunControls controls(RunControls::Input::kFed);
  EXPECT_EQ(controls.Feed("early ").value(), 6U);
  const RunInput input = controls.TakeInput();
  EXPECT_EQ(input.text, "early ");
  EXPECT_FALSE(input.IsKnown());
  NotingProcess process;
  const auto attached = controls.Attach(process);
  EXPECT_EQ(controls.Feed("late").value(), 4U);
  EXPECT_EQ(process.fed, "late");
  EXPECT_TRUE(controls.CloseInput().has_value());
  EXPECT_TRUE(process.closed);
  EXPECT_FALSE(controls.Feed("too late").has_value());
}

TEST(RunControlsTest, WhatWasClosedBeforeTheProgramIsKnownToIt) {
  RunControls controls(RunControls::Input::kFed);
  (void)controls.Feed("all");
  ASSERT_TRUE(controls.CloseInput().has_value());
  const RunInput input = controls.TakeInput();
  EXPECT_EQ(input.text, "all");
  EXPECT_TRUE(input.IsKnown());
}

TEST(RunControlsTest, OnlySoMuchIsKeptForAProgramThatDoesNotRunYet) {
  RunControls controls(RunControls::Input::kFed);
  EXPECT_EQ(controls.Feed(std::string(100'000, 'x')).value(), 65536U);
  EXPECT_EQ(controls.Feed("x").value(), 0U);
  EXPECT_FALSE(controls.AwaitRoom(base::Deadline::After(30ms)));
}

TEST(RunControlsTest, ARunWithoutInputTakesNone) {
  RunControls controls(RunControls::Input::kNone);
  EXPECT_EQ(controls.Feed("x").error().code, base::Code::kConflict);
  EXPECT_EQ(controls.CloseInput().error().code, base::Code::kConflict);
  EXPECT_TRUE(controls.TakeInput().IsKnown());
}

TEST(RunControlsTest, SignalsAndTheLastSizeWaitForTheProgram) {
  RunControls controls(RunControls::Input::kNone);
  EXPECT_TRUE(controls.Signal(15).has_value());
  EXPECT_TRUE(controls.Resize({10, 20}).has_value());
  EXPECT_TRUE(controls.Resize({30, 40}).has_value());
  NotingProcess process;
  const auto attached = controls.Attach(process);
  EXPECT_EQ(process.signals, std::vector{15});
  EXPECT_EQ(process.sizes, (std::vector<core::TerminalSize>{{30, 40}}));
  EXPECT_TRUE(controls.Signal(2).has_value());
  EXPECT_EQ(process.signals, (std::vector{15, 2}));
}

TEST(RunControlsTest, WhoWaitsForRoomIsNotLeftBehind) {
  RunControls controls(RunControls::Input::kFed);
  std::jthread waiting;
  {
    NotingProcess process(0);
    (void)controls.TakeInput();
    const auto attached = controls.Attach(process);
    waiting = std::jthread([&] { EXPECT_TRUE(controls.AwaitRoom(base::Deadline::After(20s))); });
    std::this_thread::sleep_for(50ms);
  }
  waiting.join();
  EXPECT_FALSE(controls.Feed("x").has_value());
}

TEST(RunControlsTest, OneThatIsOverTakesNothing) {
  RunControls controls(RunControls::Input::kFed);
  (void)controls.TakeInput();
  controls.End();
  EXPECT_EQ(controls.CloseInput().error().code, base::Code::kConflict);
}

class InputPumpTest : public testing::Test {
 protected:
  InputPumpTest() {
    std::array<int, 2> ends{};
    EXPECT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
    source_.Reset(ends[0]);
    feeder_.Reset(ends[1]);
  }
  static bool Eventually(const std::function<bool()>& holds) {
    for (int i = 0; i < 2000 && !holds(); ++i) std::this_thread::sleep_for(5ms);
    return holds();
  }

  base::UniqueFd source_;
  base::UniqueFd feeder_;
  NotingProcess process_;
};

TEST_F(InputPumpTest, PassesOnToTheEnd) {
  const InputPump pump(source_.get(), InputPump::To(process_));
  ASSERT_EQ(::write(feeder_.get(), "some bytes", 10), 10);
  feeder_.Reset();
  EXPECT_TRUE(Eventually([&] { return process_.closed.load(); }));
  EXPECT_EQ(process_.fed, "some bytes");
}

TEST_F(InputPumpTest, EndsWithItsOwnerWhateverTheSourceDoes) {
  const auto began = std::chrono::steady_clock::now();
  {
    const InputPump pump(source_.get(), InputPump::To(process_));
    std::this_thread::sleep_for(20ms);
  }
  EXPECT_LT(std::chrono::steady_clock::now() - began, 5s);
  EXPECT_FALSE(process_.closed);
}

TEST_F(InputPumpTest, NoSourceIsTheEndOfTheInput) {
  const InputPump pump(-1, InputPump::To(process_));
  EXPECT_TRUE(Eventually([&] { return process_.closed.load(); }));
}

}  // namespace
}  // namespace skerry::engine
