// The reported usage of a sandbox, compared with programs that know what they use.
#include <array>
#include <atomic>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <ostream>
#include <thread>

#include "backends/subprocess/subprocess_backend.hpp"
#include "integration/observed_sandbox.hpp"

namespace skerry {
namespace {

using namespace support;
using core::Preload;

constexpr std::uint64_t kMegabyte = 1U << 20U;
constexpr double kTolerance = 0.1;

struct Maker {
  std::string name;
  std::function<std::unique_ptr<core::Backend>()> make;
};

void PrintTo(const Maker& maker, std::ostream* out) {
  *out << maker.name;
}

base::FeatureSet WithoutCgroups() {
  base::FeatureSet missing;
  missing.Add(base::Feature::kCgroups);
  return missing;
}

std::unique_ptr<core::Backend> Native(NativeBackend::Zygotes zygotes, base::FeatureSet missing = {}) {
  return std::make_unique<NativeBackend>(Programs(), missing, zygotes);
}

const std::array kNatives = {
    Maker{"forked", [] { return Native(NativeBackend::Zygotes::kPython); }},
    Maker{"executed", [] { return Native(NativeBackend::Zygotes::kNone); }},
    Maker{"uncounted", [] { return Native(NativeBackend::Zygotes::kPython, WithoutCgroups()); }},
};
const Maker kSubprocess{"subprocess",
                        [] { return std::make_unique<backends::subprocess::SubprocessBackend>(Programs(), "/tmp"); }};

// A program that does one step after the other, each on demand, and prints a word after each.
class SteppedProgram {
 public:
  SteppedProgram(core::Sandbox& sandbox, std::string_view text) {
    core::Command command = Python(
        "import os, sys, time\n"
        "def step(word=''):\n"
        "    print(word, flush=True)\n"
        "    sys.stdin.readline()\n" +
        std::string(text));
    command.input_end = core::InputEnd::kOpen;
    process_ = sandbox.Launch(std::move(command), sink_, {}).value();
    thread_ = std::jthread([this](const std::stop_token& stop) {
      const auto result = process_->Await(stop);
      EXPECT_TRUE(result.has_value()) << result.error().message;
    });
    (void)Word();
  }
  SteppedProgram(const SteppedProgram&) = delete;
  SteppedProgram& operator=(const SteppedProgram&) = delete;
  ~SteppedProgram() { (void)process_->CloseInput(); }  // the program reads to the end of its input and ends

  // Makes the program do the next step. Gives the word that it prints after that.
  std::string Next() {
    EXPECT_EQ(process_->Feed("\n").value_or(0), 1U);
    return Word();
  }

 private:
  class LineSink : public core::OutputSink {
   public:
    core::SinkAnswer Write(core::Stream, std::string_view bytes, base::Deadline) override {
      const std::lock_guard lock(mutex_);
      text_.append(bytes);
      changed_.notify_all();
      return {.accepted = bytes.size()};
    }
    std::string Line() {
      std::unique_lock lock(mutex_);
      EXPECT_TRUE(changed_.wait_for(lock, 20s, [&] { return text_.find('\n') != std::string::npos; })) << text_;
      const std::size_t end = std::min(text_.find('\n'), text_.size());
      const std::string line = text_.substr(0, end);
      text_.erase(0, end + 1);
      return line;
    }

   private:
    std::mutex mutex_;
    std::condition_variable changed_;
    std::string text_;
  };

  std::string Word() { return sink_.Line(); }

  LineSink sink_;
  std::unique_ptr<core::Process> process_;
  std::jthread thread_;
};

class UsageTest : public testing::TestWithParam<Maker> {
 protected:
  void SetUp() override {
    if (const auto found = backend_->Probe(base::Deadline::Never()); !found.usable) GTEST_SKIP() << found.detail;
    sandbox_ = Started(*backend_);
    ASSERT_NE(sandbox_, nullptr);
  }

  core::SandboxUsage Now() {
    const auto usage = sandbox_->Sample(base::Deadline::Never());
    EXPECT_TRUE(usage.has_value()) << usage.error().message;
    return usage.value_or(core::SandboxUsage{});
  }

  std::unique_ptr<core::Backend> backend_ = GetParam().make();
  std::unique_ptr<core::Sandbox> sandbox_;
};

const auto kNameOf = [](const auto& information) { return information.param.name; };
INSTANTIATE_TEST_SUITE_P(Backends, UsageTest, testing::Values(kNatives[0], kNatives[1], kNatives[2], kSubprocess),
                         kNameOf);

void ExpectNear(double figure, double truth) {
  EXPECT_NEAR(figure, truth, truth * kTolerance);
}

TEST_P(UsageTest, TheTimeOfABusyLoopIsItsOwn) {
  SteppedProgram program(*sandbox_, R"(
step()
begin = time.process_time()
while time.process_time() < begin + 0.5: pass
step(time.process_time() - begin)
)");
  const core::SandboxUsage before = Now();
  const double truth = std::stod(program.Next());
  ExpectNear(std::chrono::duration<double>(Now().cpu_time - before.cpu_time).count(), truth);
}

TEST_P(UsageTest, TheTimeOfProgramsThatHaveEndedStays) {
  for (int run = 1; run <= 2; ++run) {
    const Ran ran = Execute(*sandbox_, Python("import time\nwhile time.process_time() < 0.2: pass"));
    ASSERT_EQ(ran.Code(), 0) << ran;
    EXPECT_TRUE(Eventually([&] { return Now().cpu_time >= 180ms * run; })) << Now().cpu_time.count();
  }
}

TEST_P(UsageTest, MemoryThatIsTakenAndGivenBackIsSeen) {
  SteppedProgram program(*sandbox_, R"(
step()
block = b'x' * (200 << 20)
step()
del block
step()
)");
  const core::SandboxUsage before = Now();
  program.Next();
  const core::SandboxUsage with = Now();
  ExpectNear(static_cast<double>(with.memory_bytes) - static_cast<double>(before.memory_bytes), 200.0 * kMegabyte);
  program.Next();
  EXPECT_LT(Now().memory_bytes, before.memory_bytes + 20 * kMegabyte);
}

constexpr char kTwentyChildren[] = R"(
import signal
step()
for child in range(20):
    if os.fork() == 0:
        signal.pause()
step(len([name for name in os.listdir('/proc') if name.isdigit()]) - 1)
os.killpg(0, signal.SIGKILL)
)";

TEST_P(UsageTest, ProcessesOfProgramsAreCounted) {
  SteppedProgram program(*sandbox_, kTwentyChildren);
  EXPECT_EQ(Now().pids, 1U);
  program.Next();
  ExpectNear(static_cast<double>(Now().pids), 21);
}

TEST_P(UsageTest, ThreadsCountAsProcessesDo) {
  SteppedProgram program(*sandbox_, R"(
import threading
step()
over = threading.Event()
for each in range(5): threading.Thread(target=over.wait, daemon=True).start()
step()
)");
  const core::SandboxUsage before = Now();
  program.Next();
  EXPECT_EQ(Now().pids, before.pids + 5);
}

TEST_P(UsageTest, NothingIsCountedWhereNoProgramRuns) {
  EXPECT_TRUE(Eventually([&] { return Now().pids == 0; }));
  ASSERT_EQ(Execute(*sandbox_, Python("pass")).Code(), 0);
  EXPECT_TRUE(Eventually([&] { return Now().pids == 0; })) << Now().pids;
}

TEST_P(UsageTest, OneThatHasNotBegunOrHasEndedUsesNothingThatCanBeTold) {
  ASSERT_TRUE(sandbox_->Stop(base::Deadline::Never()).has_value());
  ASSERT_FALSE(sandbox_->Sample(base::Deadline::Never()).has_value());
  EXPECT_EQ(sandbox_->Sample(base::Deadline::Never()).error().code, base::Code::kUnavailable);
  const auto fresh = backend_->Create(Spec());
  ASSERT_TRUE(fresh.has_value());
  EXPECT_EQ((*fresh)->Sample(base::Deadline::Never()).error().code, base::Code::kUnavailable);
}

TEST_P(UsageTest, ASandboxThatIsLostUsesNothingThatCanBeTold) {
  core::Command command = Shell("sleep 60");
  command.timeout = 100ms;
  ASSERT_EQ(Execute(*sandbox_, command).Kind(), core::OutcomeKind::kTimedOut);
  ASSERT_FALSE(sandbox_->Sample(base::Deadline::Never()).has_value());
  EXPECT_EQ(sandbox_->Sample(base::Deadline::Never()).error().code, base::Code::kUnavailable);
}

TEST_P(UsageTest, ItMayBeAskedWhileSandboxesBeginAndEnd) {
  std::atomic<bool> over = false;
  std::jthread asking([&] {
    while (!over)
      if (const auto usage = sandbox_->Sample(base::Deadline::Never()); !usage)
        EXPECT_EQ(usage.error().code, base::Code::kUnavailable);
  });
  for (int i = 0; i < 5; ++i) {
    EXPECT_TRUE(sandbox_->Stop(base::Deadline::Never()).has_value());
    EXPECT_TRUE(sandbox_->Start(base::Deadline::Never(), {}).has_value());
    EXPECT_EQ(Execute(*sandbox_, Python("print(1)")).out, "1\n");
  }
  over = true;
}

TEST_P(UsageTest, LimitsAreThoseThatTheSandboxWasMadeWith) {
  core::SandboxSpec spec = Spec();
  spec.limits = {.memory_mb = 300, .pids = 77, .cpu_percent = 50, .disk_mb = 20};
  const auto sandbox = Started(*backend_, spec);
  ASSERT_NE(sandbox, nullptr);
  const auto usage = sandbox->Sample(base::Deadline::Never());
  ASSERT_TRUE(usage.has_value()) << usage.error().message;
  EXPECT_EQ(usage->memory_limit_bytes, 300 * kMegabyte);
  EXPECT_EQ(usage->pids_limit, 77U);
  EXPECT_EQ(usage->cpu_limit_percent, 50U);
}

class NativeUsageTest : public UsageTest {};
INSTANTIATE_TEST_SUITE_P(Backends, NativeUsageTest, testing::ValuesIn(kNatives), kNameOf);

TEST_P(NativeUsageTest, ProcessesAreThoseThatTheSandboxShows) {
  SteppedProgram program(*sandbox_, kTwentyChildren);
  const double shown = std::stod(program.Next());
  ExpectNear(static_cast<double>(Now().pids), shown);
}

TEST_P(NativeUsageTest, TheDiskIsWhatWasWrittenToTheWorkspace) {
  const core::SandboxUsage before = Now();
  ASSERT_EQ(Execute(*sandbox_, Shell("head -c 10485760 /dev/zero > /workspace/file")).Code(), 0);
  const core::SandboxUsage after = Now();
  ExpectNear(static_cast<double>(after.disk_bytes - before.disk_bytes), 10.0 * kMegabyte);
  EXPECT_EQ(after.disk_limit_bytes, 256 * kMegabyte);  // half of the memory limit: the layer lies in memory
}

TEST_P(NativeUsageTest, WhatGoesOverTheLoopbackIsNoTraffic) {
  const Ran ran = Execute(*sandbox_, Python(R"(
import socket
listener = socket.create_server(('127.0.0.1', 0))
client = socket.create_connection(listener.getsockname())
server, _ = listener.accept()
client.sendall(b'x' * 10000)
print(len(server.recv(10000, socket.MSG_WAITALL)))
)"));
  ASSERT_EQ(ran.out, "10000\n") << ran;
  EXPECT_EQ(Now().received_bytes, 0U);
  EXPECT_EQ(Now().sent_bytes, 0U);
}

TEST_P(NativeUsageTest, AnInterpreterThatWaitsIsNoProgram) {
  for (const Preload preload : {Preload::kShell, Preload::kPython, Preload::kJavaScript}) {
    const auto sandbox = Started(*backend_, Spec(preload));
    ASSERT_NE(sandbox, nullptr);
    const auto idle = [&] {
      const auto usage = sandbox->Sample(base::Deadline::Never());
      return usage && usage->pids == 0;
    };
    EXPECT_TRUE(Eventually(idle)) << core::NameOf(preload) << " "
                                  << sandbox->Sample(base::Deadline::Never()).value().pids;
  }
}

TEST_P(NativeUsageTest, AFrozenSandboxCanBeAsked) {
  if (const auto frozen = sandbox_->pausing()->Freeze(base::Deadline::Never()); !frozen)
    GTEST_SKIP() << frozen.error().message;
  EXPECT_EQ(Now().pids, 0U);
  EXPECT_TRUE(sandbox_->pausing()->Thaw(base::Deadline::Never()).has_value());
}

TEST_P(NativeUsageTest, AskingKeepsNoDescriptors) {
  (void)Now();
  const std::size_t before = DescriptorsOf(::getpid());
  for (int i = 0; i < 30; ++i) (void)Now();
  EXPECT_EQ(DescriptorsOf(::getpid()), before);
}

}  // namespace
}  // namespace skerry
