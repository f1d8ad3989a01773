// A session's life in a Host: its sandbox comes and goes, its files stay.
#include <algorithm>
#include <atomic>
#include <thread>

#include <gmock/gmock.h>

#include "host_fixture.hpp"

namespace skerry {
namespace {

using base::Code;
using engine::Condition;
using engine::LifeMode;
using engine::Place;
using std::chrono_literals::operator""s;
using std::chrono_literals::operator""ms;

class HostLifeTest : public HostTest {
 protected:
  // A run that has begun and waits for LetGo.
  Run Holding(const HostedSession& session) {
    auto run = Begin(session, "echo held; " + Until("go") + "echo let");
    EXPECT_TRUE(Eventually([&] { return run->output_bytes() > 0; })) << Text(run);
    return run;
  }
  void LetGo(const HostedSession& session, const Run& run) {
    EXPECT_TRUE(Write(session, "go", ""));
    EXPECT_EQ(OutcomeOf(run), "exited");
    EXPECT_EQ(Text(run), "held\nlet\n");
    EXPECT_TRUE(Eventually([&] { return TheHost().CountRuns(session->id()) == 0; }));
  }
  // The plain text of a cell's result.
  std::string Cell(const HostedSession& session, const std::string& context, const std::string& text) {
    const auto begun = TheHost().Execute(kAlice,
                                         {.session = session,
                                          .kind = "cell",
                                          .request = {.code = text, .context = context},
                                          .consent = engine::Consent::kGiven},
                                         Place::kHere);
    if (!begun) return begun.error().message;
    return Text(begun->run);
  }
  // Waits until the times of files tell later changes from earlier ones; then looks at the files once more.
  void Settle(const HostedSession& session) {
    std::this_thread::sleep_for(300ms);
    EXPECT_EQ(Says(session, "echo settled"), "settled\n");
  }
  static Code ConflictOf(const base::Status& status) { return status ? Code::kInternal : status.error().code; }
};

TEST_F(HostLifeTest, TwoRunAtTheSameTime) {
  const auto session = Session("one");
  const auto one = Begin(session, "touch one; " + Until("two") + "echo one");
  const auto two = Begin(session, "touch two; " + Until("one") + "echo two");
  EXPECT_EQ(OutcomeOf(one) + " " + OutcomeOf(two), "exited exited");
  EXPECT_EQ(Text(one) + Text(two), "one\ntwo\n");
  EXPECT_EQ(session->condition(), Condition::kActive);
}

TEST_F(HostLifeTest, ATimeoutEndsOneAndLeavesTheOther) {
  const auto session = Session("one");
  const auto held = Holding(session);
  engine::Work late = Shell(session, "echo late > late; sleep 60");
  late.request.timeout = 1s;
  EXPECT_EQ(OutcomeOf(Do(late)), "timed_out");
  EXPECT_EQ(OnDisk("one", "late"), "late\n");
  EXPECT_EQ(OutcomeOf(held, 0s), "under way");
  LetGo(session, held);
}

TEST_F(HostLifeTest, FilesOfARunAreSeenAtOnceAndOnDiskAfterIt) {
  const auto session = Session("one");
  const auto run = Begin(session, "echo now > file; " + Until("go"));
  EXPECT_TRUE(Eventually([&] { return Seen(session, "file") == "now\n"; })) << Seen(session, "file");
  EXPECT_FALSE(std::filesystem::exists(Place("one", "file")));
  ASSERT_TRUE(Write(session, "go", ""));
  EXPECT_EQ(OutcomeOf(run), "exited");
  EXPECT_EQ(OnDisk("one", "file"), "now\n");
}

TEST_F(HostLifeTest, FilesCanBeChangedWhileACommandRuns) {
  const auto session = Session("one");
  const auto run = Begin(session, "echo mine > mine; " + Until("yours") + "cat yours; echo more >> yours");
  ASSERT_TRUE(Eventually([&] { return Seen(session, "mine") == "mine\n"; }));
  const auto written = Write(session, "yours", "from outside\n");
  ASSERT_TRUE(written) << written.error().message;
  // A change through the file tools first commits the changes of programs.
  EXPECT_EQ(OnDisk("one", "mine"), "mine\n");
  EXPECT_EQ(OutcomeOf(run), "exited");
  EXPECT_EQ(Text(run), "from outside\n");
  EXPECT_EQ(OnDisk("one", "yours"), "from outside\nmore\n");
}

TEST_F(HostLifeTest, FilesAreReadWhileSandboxesAreMade) {
  const auto session = Session("one");
  ASSERT_TRUE(Write(session, "kept", "always\n"));
  for (int at = 0; at < 10; ++at) {
    const auto run = Begin(session, "cat kept");
    while (OutcomeOf(run, 0s) == "under way") EXPECT_EQ(Seen(session, "kept"), "always\n");
    EXPECT_EQ(Text(run), "always\n");
    ASSERT_TRUE(TheHost().Stop(*session));
  }
}

TEST_F(HostLifeTest, ContextsKeepTheirStateAndShareFilesWithCommands) {
  const auto session = Session("one");
  ASSERT_TRUE(session->life().CreateContext("py", core::Language::kPython));
  EXPECT_EQ(Cell(session, "py", "x = 41; print(x)"), "41\n");
  EXPECT_EQ(Cell(session, "py", "open('cell', 'w').write(str(x + 1)); print('written')"), "written\n");
  EXPECT_EQ(OnDisk("one", "cell"), "42");
  EXPECT_EQ(Says(session, "cat cell; echo shell > command"), "42");
  EXPECT_EQ(Cell(session, "py", "print(open('command').read(), x)"), "shell\n 41\n");
  EXPECT_EQ(Cell(session, "none", "1"),
            TheHost()
                .Execute(kAlice, {.session = session, .request = {.code = "1", .context = "none"}}, Place::kHere)
                .error()
                .message);
  ASSERT_TRUE(session->life().RestartContext("py"));
  EXPECT_EQ(Cell(session, "py", "print('x' in globals())"), "False\n");
}

class OwnContextsTest : public HostLifeTest {
 protected:
  OwnContextsTest() { options_.own_contexts = 60s; }

  std::string NewCell(const HostedSession& session, const std::string& context, const std::string& text) {
    const auto begun = TheHost().Execute(kAlice,
                                         {.session = session,
                                          .kind = "cell",
                                          .request = {.code = text, .context = context},
                                          .creation = engine::Creation::kIfMissing,
                                          .consent = engine::Consent::kGiven},
                                         Place::kHere);
    return begun ? Text(begun->run) : begun.error().message;
  }
};

TEST_F(OwnContextsTest, EachHasASandboxAndFilesOfItsOwn) {
  const auto session = Session("one");
  EXPECT_EQ(NewCell(session, "a", "x = 1; open('file', 'w').write('a'); print(x)"), "1\n");
  EXPECT_EQ(NewCell(session, "b", "import os; print(os.listdir(), os.listdir('/tmp'))"), "[] []\n");
  EXPECT_FALSE(session->life().HasSandbox());
  EXPECT_FALSE(std::filesystem::exists(Place("one", "file")));
  ASSERT_TRUE(session->life().ForkContext("a", "c"));
  EXPECT_EQ(Cell(session, "c", "open('file', 'a').write('c'); print(x, open('file').read())"), "1 ac\n");
  EXPECT_EQ(Cell(session, "a", "print(open('file').read())"), "a\n");
  ASSERT_TRUE(session->life().RestartContext("a"));
  EXPECT_EQ(Cell(session, "a", "import os; print(os.listdir(), 'x' in globals())"), "[] False\n");
  EXPECT_EQ(TheHost().CountContexts(), 3U);
  ASSERT_TRUE(TheHost().Stop(*session));
  EXPECT_EQ(TheHost().CountContexts(), 0U);
}

TEST_F(OwnContextsTest, ACellIsRecordedAndACommandHasTheFilesOfTheSession) {
  const auto session = Session("one");
  EXPECT_EQ(NewCell(session, "a", "print(1)"), "1\n");
  EXPECT_EQ(Says(session, "echo hello > file; cat file"), "hello\n");
  EXPECT_EQ(Cell(session, "a", "import os; print(os.listdir())"), "[]\n");
  const auto history = TheHost().options().record->Executions(session->id(), 0, 10);
  ASSERT_TRUE(history) << history.error().message;
  EXPECT_EQ(std::ranges::count(*history, "cell", &core::ExecutionRecord::kind), 2);
}

TEST_F(OwnContextsTest, WhatNobodyUsesGoes) {
  options_.own_contexts = 1s;
  const auto session = Session("one");
  EXPECT_EQ(NewCell(session, "a", "print(1)"), "1\n");
  EXPECT_TRUE(Eventually([&] { return TheHost().CountContexts() == 0; }));
}

// On a tmpfs a store through a mapping stamps a file once, or never when the page was read first.
constexpr const char* kMapped =
    "import mmap, os\n"
    "def mapped(flags=0):\n"
    "  fd = os.open('array', os.O_RDWR | flags)\n"
    "  try: return mmap.mmap(fd, 4)\n"
    "  finally: os.close(fd)\n";

TEST_F(HostLifeTest, ACommitSeesWhatAMappingWritesThatLivesOn) {
  const auto session = Session("one");
  ASSERT_TRUE(session->life().CreateContext("py", core::Language::kPython));
  Cell(session, "py", kMapped);
  EXPECT_EQ(Cell(session, "py", "open('array', 'w').write('....')\nm = mapped()\nm[0] = 49\nprint('one')"), "one\n");
  EXPECT_EQ(OnDisk("one", "array"), "1...");
  Settle(session);
  for (const char* digit : {"2", "3", "4"}) {
    Cell(session, "py", "m[0] = 48 + " + std::string(digit));
    EXPECT_EQ(OnDisk("one", "array"), digit + std::string("..."));
    Settle(session);
  }
}

TEST_F(HostLifeTest, ACommitSeesWhatAMappingWroteThatIsGone) {
  const auto session = Session("one");
  ASSERT_TRUE(session->life().CreateContext("py", core::Language::kPython));
  Cell(session, "py", kMapped);
  Cell(session, "py", "open('array', 'w').write('1...')");
  for (const char* next : {"2...", "3...", "4..."}) {
    Settle(session);
    Cell(session, "py", "m = mapped()\nm[0] += 1\nm.close()");
    EXPECT_EQ(OnDisk("one", "array"), next);
  }
}

TEST_F(HostLifeTest, WhatAMappingWroteIsToldAsAChange) {
  const auto session = Session("one");
  EXPECT_EQ(Says(session, "printf 1... > array; echo made"), "made\n");
  Settle(session);
  const auto run = Do(session, "python3 -c \"" + std::string(kMapped) + "m = mapped(); m[0] += 1\"");
  EXPECT_THAT(run->end()->result.files_changed, testing::ElementsAre("array")) << Text(run, core::Stream::kStderr);
}

// Access times tell which files were mapped; a program cannot suppress its own.
TEST_F(HostLifeTest, NoMappingHidesFromACommit) {
  const auto session = Session("one");
  ASSERT_TRUE(session->life().CreateContext("py", core::Language::kPython));
  Cell(session, "py", kMapped);
  Cell(session, "py", "open('array', 'w').write('1...')");
  Settle(session);
  Cell(session, "py", "try: m = mapped(os.O_NOATIME)\nexcept OSError: m = mapped()\nm[0] += 1\nm.close()");
  EXPECT_EQ(OnDisk("one", "array"), "2...");
  Settle(session);
  Cell(session, "py",
       "import fcntl\nfd = os.open('array', os.O_RDWR)\ntry: fcntl.fcntl(fd, fcntl.F_SETFL, os.O_NOATIME)\n"
       "except OSError: pass\nm = mmap.mmap(fd, 4)\nm[0] += 1\nm.close()\nos.close(fd)");
  EXPECT_EQ(OnDisk("one", "array"), "3...");
  constexpr const char* kWithoutTimes =  // FS_IOC_SETFLAGS with FS_NOATIME_FL, as chattr +A
      "import struct\nfd = os.open('array', os.O_RDWR)\n"
      "try: fcntl.ioctl(fd, 0x40086602, struct.pack('l', 0x80))\nexcept OSError: pass\nos.close(fd)";
  Cell(session, "py", kWithoutTimes);
  Settle(session);
  Cell(session, "py", "m = mapped()\nm[0] += 1\nm.close()");
  EXPECT_EQ(OnDisk("one", "array"), "4...");
}

TEST_F(HostLifeTest, PausedNothingRunsAndResumedItGoesOn) {
  const auto session = Session("one");
  const auto run = Begin(session, "while [ ! -e go ]; do echo >> beat; sleep 0.05; done; echo end");
  ASSERT_TRUE(Eventually([&] { return Seen(session, "beat").starts_with("\n\n"); }));
  const auto paused = session->life().Pause();
  if (!paused && paused.error().code == Code::kUnavailable) GTEST_SKIP() << paused.error().message;
  ASSERT_TRUE(paused) << paused.error().message;
  EXPECT_EQ(session->condition(), Condition::kPaused);
  EXPECT_EQ(ConflictOf(session->life().Pause()), Code::kConflict);
  const std::string before = Seen(session, "beat");
  std::this_thread::sleep_for(400ms);
  EXPECT_EQ(Seen(session, "beat"), before);
  EXPECT_EQ(ConflictOf(Write(session, "go", "")), Code::kConflict);
  EXPECT_EQ(Do(session, "true")->end()->error->code, Code::kConflict);
  ASSERT_TRUE(session->life().Resume());
  EXPECT_EQ(session->condition(), Condition::kActive);
  EXPECT_EQ(ConflictOf(session->life().Resume()), Code::kConflict);
  ASSERT_TRUE(Write(session, "go", ""));
  EXPECT_EQ(OutcomeOf(run), "exited");
  EXPECT_EQ(Text(run), "end\n");
}

TEST_F(HostLifeTest, WhatIsPausedCanBeCancelledAndDeleted) {
  const auto session = Session("one");
  const auto run = Holding(session);
  const auto paused = session->life().Pause();
  if (!paused && paused.error().code == Code::kUnavailable) GTEST_SKIP() << paused.error().message;
  const auto start = std::chrono::steady_clock::now();
  ASSERT_TRUE(TheHost().Delete(kAlice, "one"));
  EXPECT_EQ(OutcomeOf(run), "cancelled");
  EXPECT_LT(std::chrono::steady_clock::now() - start, 8s);
}

TEST_F(HostLifeTest, ACancelOrATimeoutWhilePausedLeavesTheOthersAlive) {
  const auto session = Session("one");
  const auto held = Holding(session);
  const auto cancelled = Begin(session, "echo begun; sleep 600");
  engine::Work late = Shell(session, "echo begun; sleep 600");
  late.request.timeout = 2s;
  const auto timed_out = Begin(late);
  ASSERT_TRUE(Eventually([&] { return cancelled->output_bytes() > 0 && timed_out->output_bytes() > 0; }));
  const auto paused = session->life().Pause();
  if (!paused && paused.error().code == Code::kUnavailable) GTEST_SKIP() << paused.error().message;
  cancelled->Cancel();
  std::this_thread::sleep_for(8s);
  ASSERT_TRUE(session->life().Resume());
  EXPECT_EQ(OutcomeOf(cancelled), "cancelled");
  EXPECT_EQ(OutcomeOf(timed_out), "timed_out");
  LetGo(session, held);
}

TEST_F(HostLifeTest, APausedSessionCanRest) {
  const auto session = Session("one");
  EXPECT_EQ(Says(session, "echo 1 > file; (while :; do sleep 0.1; done) > /dev/null 2>&1 &"), "");
  const auto paused = session->life().Pause();
  if (!paused && paused.error().code == Code::kUnavailable) GTEST_SKIP() << paused.error().message;
  const auto start = std::chrono::steady_clock::now();
  const auto rested = session->life().Rest();
  EXPECT_TRUE(rested) << rested.error().message;
  EXPECT_LT(std::chrono::steady_clock::now() - start, 8s);
  EXPECT_EQ(session->condition(), Condition::kIdle);
  EXPECT_EQ(Says(session, "cat file"), "1\n");
}

TEST_F(HostLifeTest, AtRestTheSandboxIsGoneAndTheFilesStay) {
  const auto session = Session("one");
  EXPECT_EQ(Says(session, "echo 1 > file; echo 2 > /tmp/file; (sleep 600) > /dev/null 2>&1 &"), "");
  const auto held = Holding(session);
  EXPECT_EQ(ConflictOf(session->life().Rest()), Code::kConflict);
  LetGo(session, held);
  const auto rested = session->life().Rest();
  ASSERT_TRUE(rested) << rested.error().message;
  EXPECT_FALSE(session->life().HasSandbox());
  EXPECT_EQ(session->condition(), Condition::kIdle);
  EXPECT_EQ(Seen(session, "file"), "1\n");
  EXPECT_EQ(Says(session, "cat file; ls /tmp; pgrep -c sleep"), "1\n0\n");
}

TEST_F(HostLifeTest, AnIdleSessionGivesItsSandboxBack) {
  const auto session = Session("one", {.idle = 1s});
  EXPECT_EQ(Says(session, "echo 1 > file"), "");
  EXPECT_TRUE(session->life().HasSandbox());
  EXPECT_TRUE(Eventually([&] { return !session->life().HasSandbox(); }));
  EXPECT_EQ(Seen(session, "file"), "1\n");
  EXPECT_EQ(Says(session, "cat file"), "1\n");
  // A session is not idle while a run is going on.
  const auto held = Holding(session);
  std::this_thread::sleep_for(2500ms);
  EXPECT_TRUE(session->life().HasSandbox());
  LetGo(session, held);
}

TEST_F(HostLifeTest, AContextKeepsItsSandbox) {
  const auto session = Session("one", {.idle = 1s});
  ASSERT_TRUE(session->life().CreateContext("py", core::Language::kPython));
  EXPECT_EQ(Cell(session, "py", "x = 1"), "");
  std::this_thread::sleep_for(2500ms);
  EXPECT_EQ(Cell(session, "py", "print(x)"), "1\n");
}

TEST_F(HostLifeTest, WhatNeedsTheSessionForItselfConflictsWithWhatRuns) {
  const auto session = Session("one");
  const auto held = Holding(session);
  const auto undo = [](engine::Session& files) -> base::Status {
    EXPECT_FALSE(files.IsLive());
    return {};
  };
  EXPECT_EQ(ConflictOf(session->life().ChangeAtRest(undo)), Code::kConflict);
  LetGo(session, held);
  const auto changed = session->life().ChangeAtRest(undo);
  EXPECT_TRUE(changed) << changed.error().message;
}

TEST_F(HostLifeTest, OtherLimitsMeanASandboxOfItsOwnWhenNothingElseRuns) {
  const auto session = Session("one");
  EXPECT_EQ(Says(session, "echo 1 > file; echo 2 > /tmp/file"), "");
  engine::Work large = Shell(session, "cat file; ls /tmp; echo 3 > apart");
  large.request.max_memory_mb = 256;
  const auto held = Holding(session);
  EXPECT_EQ(Do(large)->end()->error->code, Code::kConflict);
  LetGo(session, held);
  EXPECT_EQ(Text(Do(large)), "1\n");
  EXPECT_EQ(Says(session, "cat apart"), "3\n");
}

TEST_F(HostLifeTest, WhoeverComesWhileOneRunsApartWaitsForIt) {
  const auto session = Session("one");
  engine::Work apart = Shell(session, "echo begun; sleep 1; echo 1 > file");
  apart.request.max_memory_mb = 256;
  const auto run = Begin(apart);
  ASSERT_TRUE(Eventually([&] { return run->output_bytes() > 0; }));
  EXPECT_EQ(Says(session, "cat file"), "1\n");
  EXPECT_EQ(OutcomeOf(run), "exited");
}

TEST_F(HostLifeTest, WhatWaitsForOneThatRunsApartCanBeCancelled) {
  const auto session = Session("one");
  engine::Work apart = Shell(session, "echo begun; sleep 10");
  apart.request.max_memory_mb = 256;
  const auto first = Begin(apart);
  ASSERT_TRUE(Eventually([&] { return first->output_bytes() > 0; }));
  const auto second = Begin(session, "echo second");
  std::this_thread::sleep_for(200ms);
  second->Cancel();
  EXPECT_EQ(OutcomeOf(second, 3s), "cancelled");
  first->Cancel();
}

TEST_F(HostLifeTest, AReaderIsWaitedForAndIsNoProgramThatRuns) {
  const auto session = Session("one");
  std::atomic<bool> reading = false;
  std::atomic<bool> over = false;
  const std::jthread reader([&] {
    (void)session->life().Read([&](const workspace::AgentWorkspace&) -> base::Status {
      reading = true;
      std::this_thread::sleep_for(300ms);
      over = true;
      return {};
    });
  });
  ASSERT_TRUE(Eventually([&] { return reading.load(); }));
  const auto changed = session->life().ChangeAtRest([&](engine::Session&) -> base::Status {
    EXPECT_TRUE(over);
    return {};
  });
  EXPECT_TRUE(changed) << changed.error().message;
}

TEST_F(HostLifeTest, ADryRunChangesNothing) {
  const auto session = Session("one");
  EXPECT_EQ(Says(session, "echo 1 > file"), "");
  engine::Work dry = Shell(session, "echo 2 > file; echo dry");
  dry.request.carry = core::Carry::kShow;
  const auto run = Do(dry);
  EXPECT_EQ(Text(run), "dry\n");
  EXPECT_THAT(run->end()->result.diff, testing::HasSubstr("-1\n+2\n"));
  EXPECT_EQ(Says(session, "cat file"), "1\n");
}

TEST_F(HostLifeTest, ADryRunKeepsNobodyFromAskingHowASessionIs) {
  const auto session = Session("one");
  engine::Work dry = Shell(session, "echo begun; sleep 5");
  dry.request.carry = core::Carry::kShow;
  const auto first = Begin(dry);
  ASSERT_TRUE(Eventually([&] { return first->output_bytes() > 0; }));
  const auto second = Begin(session, "echo second");
  std::this_thread::sleep_for(500ms);
  const auto start = std::chrono::steady_clock::now();
  (void)session->condition();
  EXPECT_LT(std::chrono::steady_clock::now() - start, 2s);
  EXPECT_EQ(OutcomeOf(first) + OutcomeOf(second), "exitedexited");
}

TEST_F(HostLifeTest, ARunHasTheEnvironmentOfItsSessionUnderItsOwn) {
  const auto session = Session("one", {.environment = {{"OF_SESSION", "1"}, {"OVER", "1"}}});
  engine::Work work = Shell(session, "echo $OF_SESSION $OVER");
  work.request.environment = {{"OVER", "2"}};
  EXPECT_EQ(Text(Do(work)), "1 2\n");
}

TEST_F(HostLifeTest, ALostSandboxIsReplaced) {
  const auto session = Session("one");
  EXPECT_EQ(Says(session, "echo 1 > file"), "");
  const auto run = Begin(session, "kill -9 -1; kill -9 1; echo alive");
  EXPECT_NE(OutcomeOf(run), "under way");
  EXPECT_EQ(Says(session, "cat file"), "1\n");
}

// --- shared

TEST_F(HostLifeTest, SharedSessionsOfATenantSeeTheSameFiles) {
  const engine::SessionSettings shared{.mode = LifeMode::kShared};
  const auto one = Session("one", shared);
  const auto two = Session("two", shared);
  const auto other = SessionOf(kBob, "three", shared);
  EXPECT_EQ(Says(one, "echo 1 > file"), "");
  EXPECT_EQ(Says(two, "cat file"), "1\n");
  EXPECT_EQ(Seen(two, "file"), "1\n");
  const auto bobs = TheHost().Execute(kBob, Shell(other, "ls file 2>&1"), Place::kHere);
  ASSERT_TRUE(bobs);
  EXPECT_NE(bobs->run->end()->ExitCode(), 0);
  EXPECT_EQ(Seen(other, "file"), "error: not_found");
  const auto first = Begin(one, "touch a; " + Until("b"));
  const auto second = Begin(two, "touch b; " + Until("a"));
  EXPECT_EQ(OutcomeOf(first) + OutcomeOf(second), "exitedexited");
  ASSERT_TRUE(TheHost().Delete(kAlice, "one"));
  EXPECT_EQ(Says(two, "cat file"), "1\n");
  ASSERT_TRUE(TheHost().Delete(kAlice, "two"));
  EXPECT_FALSE(std::filesystem::exists(Place("shared-a")));
}

TEST_F(HostLifeTest, ASharedSessionBeginsAnewAfterTheLastWasDeleted) {
  const engine::SessionSettings shared{.mode = LifeMode::kShared};
  const auto held = Session("one", shared);  // a caller still holds it
  EXPECT_EQ(Says(held, "echo 1 > file"), "");
  ASSERT_TRUE(TheHost().Delete(kAlice, "one"));
  const auto next = Session("two", shared);
  EXPECT_EQ(Says(next, "cat file 2>/dev/null || echo anew"), "anew\n");
}

}  // namespace
}  // namespace skerry
