// Whatever a program does to its end and to the channel, its sandbox ends, the launcher and the pool live, and the next
// program finds no trace of it.
#include <sys/resource.h>

#include <filesystem>
#include <thread>

#include "integration/hostile_program.hpp"
#include "support/sanitizer.hpp"

namespace skerry {
namespace {

using core::OutcomeKind;
using support::WarmHostileTest;
using std::chrono_literals::operator""ms;
using std::chrono_literals::operator""s;
using support::Clock;
using support::NoSink;

// ---- Its end

TEST_F(WarmHostileTest, SiblingsMadeInTheLaunchersNameEndWithTheSandbox) {
  const auto ran = Attack(R"(
for _ in range(20):
    if libc.syscall(CLONE, 0x8000, 0, 0, 0, 0) == 0:  # clone with CLONE_PARENT
        time.sleep(30)
        os._exit(0)
os._exit(7)
)");
  ASSERT_TRUE(ran.has_value()) << ran.error().message;
  EXPECT_EQ(7, ran->outcome.exit_code);
  ExpectOverAndDone();
}

TEST_F(WarmHostileTest, SiblingsThatEndedBeforeItAreReaped) {
  const auto ran = Attack(R"(
for _ in range(20):
    if libc.syscall(CLONE, 0x8000, 0, 0, 0, 0) == 0:
        os._exit(0)
time.sleep(0.2)
os._exit(7)
)");
  ASSERT_TRUE(ran.has_value()) << ran.error().message;
  EXPECT_EQ(7, ran->outcome.exit_code);
  ExpectOverAndDone();
}

TEST_F(WarmHostileTest, AForkStormAtItsEndEndsWithTheSandbox) {
  const auto ran = Attack(R"(
for _ in range(8):
    if os.fork() == 0:
        while True:
            try:
                if os.fork():
                    os._exit(0)
            except OSError:
                pass
os._exit(3)
)");
  ASSERT_TRUE(ran.has_value()) << ran.error().message;
  EXPECT_EQ(3, ran->outcome.exit_code);
  ExpectOverAndDone();
}

TEST_F(WarmHostileTest, AllProcessesTakenDoNotKeepTheSandboxFromEnding) {
  const auto ran = Attack(R"(
try:
    while True:
        if os.fork() == 0:
            for number in range(1, 65):
                try: signal.signal(number, signal.SIG_IGN)
                except (OSError, ValueError): pass
            time.sleep(60)
except OSError:
    os._exit(4)
)");
  ASSERT_TRUE(ran.has_value()) << ran.error().message;
  EXPECT_EQ(4, ran->outcome.exit_code);
  ExpectOverAndDone();
}

TEST_F(WarmHostileTest, AStoppedProgramEndsAtItsTimeout) {
  const auto ran = Attack("os.kill(os.getpid(), signal.SIGSTOP)", 1s);
  ASSERT_TRUE(ran.has_value()) << ran.error().message;
  EXPECT_EQ(OutcomeKind::kTimedOut, ran->outcome.kind);
  EXPECT_LT(Took(), 3s);
  ExpectOverAndDone();
}

TEST_F(WarmHostileTest, AFirstThreadThatEndedAloneDoesNotHideTheOthers) {
  const auto ran = Attack(R"(
threading.Thread(target=lambda: time.sleep(60)).start()
libc.syscall(EXIT, 0)
)",
                          1s);
  ASSERT_TRUE(ran.has_value()) << ran.error().message;
  EXPECT_EQ(OutcomeKind::kTimedOut, ran->outcome.kind);
  ExpectOverAndDone();
}

TEST_F(WarmHostileTest, IgnoredSignalsAndDetachedChildrenEndAtTheTimeout) {
  const auto ran = Attack(R"(
for number in (1, 2, 3, 13, 15):
    signal.signal(number, signal.SIG_IGN)
for _ in range(3):
    if os.fork() == 0:
        os.setsid()
        if os.fork():
            os._exit(0)
        while True:
            time.sleep(1)
while True:
    pass
)",
                          1s);
  ASSERT_TRUE(ran.has_value()) << ran.error().message;
  EXPECT_EQ(OutcomeKind::kTimedOut, ran->outcome.kind);
  EXPECT_LT(Took(), 3s);
  ExpectOverAndDone();
}

// ---- The channel

TEST_F(WarmHostileTest, AChannelThatAChildHoldsOpenDoesNotDelayTheEnd) {
  const auto ran = Attack(R"(
if os.fork() == 0:
    time.sleep(60)
os._exit(6)
)");
  ASSERT_TRUE(ran.has_value()) << ran.error().message;
  EXPECT_EQ(6, ran->outcome.exit_code);
  EXPECT_LT(Took(), 5s);
  ExpectOverAndDone();
}

TEST_F(WarmHostileTest, ClosedDescriptorsDoNotHideTheExitCode) {
  const auto ran = Attack(R"(
os.closerange(0, 1024)
os._exit(5)
)");
  ASSERT_TRUE(ran.has_value()) << ran.error().message;
  EXPECT_EQ(5, ran->outcome.exit_code);
  ExpectOverAndDone();
}

TEST_F(WarmHostileTest, ClosedDescriptorsDoNotHideAProgramThatGoesOn) {
  const auto ran = Attack("os.closerange(0, 1024)\ntime.sleep(60)", 1s);
  ASSERT_TRUE(ran.has_value()) << ran.error().message;
  EXPECT_EQ(OutcomeKind::kTimedOut, ran->outcome.kind);
  EXPECT_LT(Took(), 3s);
  ExpectOverAndDone();
}

TEST_F(WarmHostileTest, JunkOnTheChannelEndsAtTheTimeout) {
  const auto ran = Attack("os.write(CHANNEL, os.urandom(1000) + b'\\0' * 50)\ntime.sleep(60)", 1s);
  ASSERT_TRUE(ran.has_value()) << ran.error().message;
  EXPECT_EQ(OutcomeKind::kTimedOut, ran->outcome.kind);
  ExpectOverAndDone();
}

TEST_F(WarmHostileTest, AnEndlessWordOnTheChannelIsNotKept) {
  rusage before{};
  ::getrusage(RUSAGE_SELF, &before);
  const auto ran = Attack(R"(
block = b'x' * (1 << 20)
try:
    for _ in range(1024):
        os.write(CHANNEL, block)
except OSError:
    pass
)",
                          3s);
  ASSERT_TRUE(ran.has_value()) << ran.error().message;
  rusage after{};
  ::getrusage(RUSAGE_SELF, &after);
  // The thread sanitizer needs four bytes of its own for each byte.
  constexpr long kTimes = support::kHasThreadSanitizer ? 5 : 1;
  EXPECT_LT(after.ru_maxrss - before.ru_maxrss, kTimes * (300L << 10U)) << "kilobytes of a gigabyte";
  ExpectOverAndDone();
}

TEST_F(WarmHostileTest, AFloodOfWordsDoesNotOutliveTheTimeout) {
  const auto ran = Attack("words = b'ready\\0' * 10000\nwhile True:\n    os.write(CHANNEL, words)\n", 2s);
  ASSERT_TRUE(ran.has_value()) << ran.error().message;
  EXPECT_EQ(OutcomeKind::kTimedOut, ran->outcome.kind);
  EXPECT_LT(Took(), 4s);
  ExpectOverAndDone();
}

// A word that never ends, in small pieces: the host must not search it from the start again each time.
TEST_F(WarmHostileTest, AWordInSmallPiecesCostsTheHostLittle) {
  rusage before{};
  ::getrusage(RUSAGE_SELF, &before);
  const auto ran = Attack(R"(
os.write(CHANNEL, b'display\x0064\0')
block = b'x' * (1 << 20)
for _ in range(48):
    os.write(CHANNEL, block)
while True:
    os.write(CHANNEL, b'x')
    time.sleep(0.001)
)",
                          4s);
  ASSERT_TRUE(ran.has_value()) << ran.error().message;
  rusage after{};
  ::getrusage(RUSAGE_SELF, &after);
  EXPECT_LT(after.ru_utime.tv_sec - before.ru_utime.tv_sec, 2) << "seconds of work of ours";
  ExpectOverAndDone();
}

TEST_F(WarmHostileTest, AForgedEndIsItsEnd) {
  const auto ran = Attack("os.write(CHANNEL, b'exit\\x0042\\0')\ntime.sleep(60)");
  ASSERT_TRUE(ran.has_value()) << ran.error().message;
  EXPECT_EQ(OutcomeKind::kExited, ran->outcome.kind);
  EXPECT_EQ(42, ran->outcome.exit_code);
  EXPECT_LT(Took(), 5s);
  ExpectOverAndDone();
}

TEST_F(WarmHostileTest, DescriptorsSentOverTheChannelAreNotKept) {
  const auto own = [] { return std::distance(std::filesystem::directory_iterator("/proc/self/fd"), {}); };
  const auto before = own();
  const auto ran = Attack(R"(
import array
channel = socket.socket(fileno=os.dup(CHANNEL))
sent = 0
for _ in range(2000):
    try:
        channel.sendmsg([b'ready\0'], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array('i', [0] * 50))])
        sent += 1
    except OSError:  # too many in flight
        time.sleep(0.001)
print(sent > 10)
)");
  ASSERT_TRUE(ran.has_value()) << ran.error().message;
  EXPECT_EQ("True\n", ran->standard_output);
  ExpectOverAndDone();
  EXPECT_LT(own(), before + 50);
}

TEST_F(WarmHostileTest, TheChannelGivesNoHandleOnTheHostsProcess) {
  const auto ran = Attack(R"(
SO_PEERPIDFD = 77
channel = socket.socket(fileno=os.dup(CHANNEL))
try:
    handle = struct.unpack('i', channel.getsockopt(socket.SOL_SOCKET, SO_PEERPIDFD, 4))[0]
    print(os.readlink('/proc/self/fd/%d' % handle))
except OSError as error:
    print('refused')
)");
  ASSERT_TRUE(ran.has_value()) << ran.error().message;
  EXPECT_EQ("refused\n", ran->standard_output);
  ExpectOverAndDone();
}

TEST_F(WarmHostileTest, AProgramThatClosedTheChannelIsStillHeard) {
  const auto heard = Attack("os.closerange(3, 1024)\nprint('x' * 1000000, flush=True)\nos._exit(8)", 5s);
  ASSERT_TRUE(heard.has_value()) << heard.error().message;
  EXPECT_EQ(8, heard->outcome.exit_code);
  EXPECT_EQ(1000001U, heard->standard_output.size());
  ExpectOverAndDone();
}

TEST_F(WarmHostileTest, AProgramThatBecameAnotherOneIsStillHeard) {
  const auto ran = Attack("os.execvp('sh', ['sh', '-c', 'head -c 1000000 /dev/zero; exit 3'])", 5s);
  ASSERT_TRUE(ran.has_value()) << ran.error().message;
  EXPECT_EQ(3, ran->outcome.exit_code);
  EXPECT_EQ(1000000U, ran->standard_output.size());
  ExpectOverAndDone();
}

TEST_F(WarmHostileTest, AProgramThatClosedTheChannelCanBeCancelled) {
  std::stop_source source;
  const std::jthread caller([&source] {
    std::this_thread::sleep_for(1s);
    source.request_stop();
  });
  const auto ran = Attack("os.closerange(3, 1024)\ntime.sleep(60)", 10s, source.get_token());
  ASSERT_TRUE(ran.has_value()) << ran.error().message;
  EXPECT_EQ(OutcomeKind::kCancelled, ran->outcome.kind);
  EXPECT_LT(Took(), 5s);
  ExpectOverAndDone();
}

TEST_F(WarmHostileTest, ANodeThatClosedTheChannelIsStillHeard) {
  core::ExecutionRequest request;
  request.language = core::Language::kJavaScript;
  request.timeout = 5s;
  request.code = R"(
const fs = require('fs');
for (let number = 3; number < 200; ++number) {
  try {
    if (fs.fstatSync(number).isSocket()) fs.closeSync(number);
  } catch {}
}
fs.writeSync(1, 'x'.repeat(60000));
for (let at = 0; at < 100; ++at) fs.writeSync(1, 'y'.repeat(4096));
process.kill(process.pid, 'SIGKILL');
)";
  manager_->warm()->AwaitWarm(core::Preload::kJavaScript, base::Deadline::After(20s));
  const auto ran = manager_->Execute(request, {}, {});
  if (!ran && ran.error().code == base::Code::kNotFound) GTEST_SKIP() << ran.error().message;
  ASSERT_TRUE(ran.has_value()) << ran.error().message;
  EXPECT_EQ(core::StartKind::kWarm, ran->start);
  EXPECT_EQ(OutcomeKind::kSignalled, ran->outcome.kind) << ran->standard_error;
  EXPECT_EQ(60000U + 409600U, ran->standard_output.size());
}

TEST_F(WarmHostileTest, AContextThatStoppedItselfEndsAtTheTimeoutOfTheNextCell) {
  auto backend = registry_.Find("native");
  ASSERT_TRUE(backend.has_value());
  core::SandboxSpec spec;
  spec.preload = core::Preload::kPython;
  auto sandbox = (*backend)->Create(spec);
  ASSERT_TRUE(sandbox.has_value() && (*sandbox)->Start(base::Deadline::Never(), {}).has_value());
  auto context =
      (*sandbox)->contexts()->OpenContext({.language = core::Language::kPython, .ends = core::Reach::kSandbox});
  ASSERT_TRUE(context.has_value()) << context.error().message;
  NoSink sink;
  const auto first = (*context)->Run({.text = R"(
import os, signal, time
own = os.getpid()
if os.fork() == 0:
    time.sleep(0.2)
    os.kill(own, signal.SIGSTOP)
    time.sleep(60)
)"},
                                     sink, {});
  ASSERT_TRUE(first.has_value() && first->alive);
  std::this_thread::sleep_for(500ms);
  start_ = Clock::now();
  const std::string long_text = "text = '" + std::string(8U << 20U, 'x') + "'";  // more than the channel holds
  const auto next = (*context)->Run({.text = long_text, .timeout = 1s}, sink, {});
  ASSERT_TRUE(next.has_value()) << next.error().message;
  EXPECT_EQ(OutcomeKind::kTimedOut, next->outcome.kind);
  EXPECT_FALSE(next->alive);
  EXPECT_LT(Took(), 5s);
}

}  // namespace
}  // namespace skerry
