// What a Host keeps: sessions by tenant, runs, keys, limits, questions to people.
#include <atomic>
#include <csignal>
#include <latch>
#include <mutex>
#include <set>
#include <vector>

#include "core/session_name.hpp"
#include "host_fixture.hpp"

namespace skerry {
namespace {

namespace fs = std::filesystem;
using base::Code;
using core::IdempotencyClaim;
using engine::Consent;
using engine::Place;
using std::chrono_literals::operator""s;

template <class T>
Code CodeOf(const base::Result<T>& result) {
  EXPECT_FALSE(result);
  return result ? Code::kInternal : result.error().code;
}

// --- sessions

TEST_F(HostTest, WhatIsAnotherTenantsDoesNotExist) {
  const auto session = Session("one");
  EXPECT_EQ(session->condition(), engine::Condition::kIdle);
  EXPECT_TRUE(TheHost().Find(kAlice, "one"));
  EXPECT_TRUE(TheHost().Find(kOwner, "one"));
  EXPECT_EQ(CodeOf(TheHost().Find(kBob, "one")), Code::kNotFound);
  EXPECT_EQ(CodeOf(TheHost().Delete(kBob, "one")), Code::kNotFound);
  EXPECT_EQ(TheHost().Find(kBob, "one").error().message,
            TheHost().Find(kBob, "never").error().message.replace(20, 5, "one"));
  SessionOf(kBob, "two");
  EXPECT_EQ(TheHost().List(kAlice).size(), 1U);
  EXPECT_EQ(TheHost().List(kBob).front()->name(), "two");
  EXPECT_EQ(TheHost().List(kOwner).size(), 2U);
  const auto run = Do(session, "echo hello");
  EXPECT_TRUE(TheHost().FindRun(kAlice, run->id()));
  EXPECT_TRUE(TheHost().FindRun(kOwner, run->id()));
  EXPECT_EQ(CodeOf(TheHost().FindRun(kBob, run->id())), Code::kNotFound);
  EXPECT_TRUE(TheHost().ListRuns(kBob, {}).value().empty());
  EXPECT_TRUE(TheHost().ListRuns(kBob, {.tenant = "a"}).value().empty());
  EXPECT_EQ(TheHost().ListRuns(kAlice, {}).value().size(), 1U);
}

TEST_F(HostTest, ADeletedSessionIsGoneWithItsFilesAndRuns) {
  const auto session = Session("one");
  const auto run = Do(session, "echo kept > file; echo said");
  ASSERT_EQ(OnDisk("one", "file"), "kept\n");
  ASSERT_TRUE(fs::exists(home_ / "state/outputs" / run->id()));
  const auto going = Begin(session, "touch begun; sleep 60");
  ASSERT_TRUE(Eventually([&] { return Seen(session, "begun").empty(); }));
  const auto deleted = TheHost().Delete(kAlice, "one");
  ASSERT_TRUE(deleted) << deleted.error().message;
  EXPECT_EQ(OutcomeOf(going), "cancelled");
  EXPECT_FALSE(fs::exists(Place("one")));
  EXPECT_FALSE(fs::exists(home_ / "state/outputs" / run->id()));
  EXPECT_EQ(CodeOf(TheHost().Find(kAlice, "one")), Code::kNotFound);
  EXPECT_EQ(CodeOf(TheHost().Delete(kAlice, "one")), Code::kNotFound);
  EXPECT_EQ(CodeOf(TheHost().FindRun(kAlice, run->id())), Code::kNotFound);
  // A caller that still holds the session gets an error.
  EXPECT_EQ(Do(Shell(nullptr, "true"))->end()->Outcome(), "exited");
  EXPECT_EQ(CodeOf(TheHost().Execute(kAlice, Shell(session, "true"), Place::kHere)), Code::kNotFound);
  EXPECT_EQ(Says(Session("one"), "ls"), "artifacts\ncode\ndata\noutput\ntemp\n");
}

TEST_F(HostTest, IdsThatAreNotForSessionsAreRefused) {
  Session("one");
  EXPECT_EQ(CodeOf(TheHost().Create(kAlice, {.name = "one"})), Code::kConflict);
  // Another tenant may have a session of the same name.
  const auto other = TheHost().Create(kBob, {.name = "one"});
  ASSERT_TRUE(other);
  EXPECT_EQ(other->session->name(), "one");
  EXPECT_NE(other->session->id(), TheHost().Find(kAlice, "one").value()->id());
  EXPECT_EQ(CodeOf(TheHost().Find(kOwner, "one")), Code::kConflict);
  EXPECT_EQ(TheHost().Find(kOwner, other->session->id()).value(), other->session);
  EXPECT_EQ(CodeOf(TheHost().Find(kAlice, other->session->id())), Code::kNotFound);
  for (const char* id : {"shared-a", "", "..", "a/b", ".hidden", "a b", "a~b"})
    EXPECT_EQ(CodeOf(TheHost().Create(kAlice, {.name = id})), Code::kInvalidArgument) << id;
  EXPECT_EQ(TheHost().List(kOwner).size(), 2U);
}

TEST_F(HostTest, ASessionExpires) {
  const auto made = TheHost().Create(kAlice, {.name = "short", .ttl = 4s});
  ASSERT_TRUE(made) << made.error().message;
  const auto extended = TheHost().Create(kAlice, {.name = "extended", .ttl = 4s});
  ASSERT_TRUE(extended && TheHost().Extend(*extended->session, 600s));
  EXPECT_EQ(Says(made->session, "echo there"), "there\n");
  std::this_thread::sleep_for(4s);
  EXPECT_EQ(CodeOf(TheHost().Find(kAlice, "short")), Code::kNotFound);
  EXPECT_TRUE(Eventually([&] { return !fs::exists(Place("short")); }));
  EXPECT_TRUE(TheHost().Find(kAlice, "extended"));
}

// --- limits

TEST_F(HostTest, ATenantHasAsManySessionsAsItMay) {
  engine::Principal limited = kAlice;
  limited.most_sessions = 2;
  EXPECT_TRUE(TheHost().Create(limited, {.name = "one"}));
  SessionOf(kBob, "other");
  EXPECT_TRUE(TheHost().Create(limited, {.name = "two"}));
  EXPECT_EQ(CodeOf(TheHost().Create(limited, {.name = "three"})), Code::kRateLimited);
  EXPECT_TRUE(TheHost().Delete(limited, "one"));
  EXPECT_TRUE(TheHost().Create(limited, {.name = "three"}));
}

TEST_F(HostTest, AtOnceNoMoreSessionsThanTheLimitAreMade) {
  engine::Principal limited = kAlice;
  limited.most_sessions = 2;
  TheHost();
  std::latch start(8);
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 8; ++i)
      threads.emplace_back([&] {
        start.arrive_and_wait();
        (void)TheHost().Create(limited, {});
      });
  }
  EXPECT_EQ(TheHost().List(kAlice).size(), 2U);
}

TEST_F(HostTest, TheDaemonHasAsManySessionsAsItMay) {
  options_.max_sessions = 1;
  Session("one");
  EXPECT_EQ(CodeOf(TheHost().Create(kBob, {})), Code::kUnavailable);
}

TEST_F(HostTest, ATenantHasAsManyRunsAtOnceAsItMay) {
  const auto session = Session("one");
  engine::Principal limited = kAlice;
  limited.most_runs = 1;
  const auto going = TheHost().Execute(limited, Shell(session, Until("go")), Place::kBeside);
  ASSERT_TRUE(going) << going.error().message;
  EXPECT_EQ(CodeOf(TheHost().Execute(limited, Shell(session, "true"), Place::kHere)), Code::kRateLimited);
  EXPECT_EQ(CodeOf(TheHost().Execute(limited, Shell(nullptr, "true"), Place::kHere)), Code::kRateLimited);
  EXPECT_TRUE(TheHost().Execute(kBob, Shell(nullptr, "true"), Place::kHere));
  ASSERT_TRUE(Write(session, "go", ""));
  EXPECT_EQ(OutcomeOf(going->run), "exited");
  EXPECT_TRUE(Eventually([&] { return TheHost().CountRuns("one") == 0; }));
  EXPECT_TRUE(TheHost().Execute(limited, Shell(session, "true"), Place::kHere));
}

TEST_F(HostTest, AtOnceNoMoreRunsThanTheLimitBegin) {
  const auto session = Session("one");
  engine::Principal limited = kAlice;
  limited.most_runs = 2;
  std::latch start(8);
  std::atomic<int> begun = 0;
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 8; ++i)
      threads.emplace_back([&] {
        start.arrive_and_wait();
        begun += TheHost().Execute(limited, Shell(session, Until("go")), Place::kBeside) ? 1 : 0;
      });
  }
  EXPECT_EQ(begun.load(), 2);
  ASSERT_TRUE(Write(session, "go", ""));
  EXPECT_TRUE(Eventually([&] { return TheHost().CountRuns("one") == 0; }));
}

TEST_F(HostTest, ARunThatIsOverIsNoRunOfTheLimit) {
  const auto session = Session("one");
  engine::Principal limited = kAlice;
  limited.most_runs = 1;
  for (int round = 0; round < 50; ++round) {
    const auto begun = TheHost().Execute(limited, Shell(session, "true"), Place::kBeside);
    ASSERT_TRUE(begun) << "round " << round << ": " << begun.error().message;
    ASSERT_EQ(OutcomeOf(begun->run), "exited");
  }
}

// --- keys

TEST_F(HostTest, ASessionIsMadeOnceForItsKey) {
  const engine::NewSession wanted{.claim = IdempotencyClaim{"a", "key", "digest"}};
  const auto first = TheHost().Create(kAlice, wanted);
  const auto second = TheHost().Create(kAlice, wanted);
  ASSERT_TRUE(first && second);
  EXPECT_FALSE(first->replayed);
  EXPECT_TRUE(second->replayed);
  EXPECT_EQ(first->session, second->session);
  engine::NewSession other = wanted;
  other.claim->request_sha256 = "another";
  EXPECT_EQ(CodeOf(TheHost().Create(kAlice, other)), Code::kConflict);
  const auto bobs = TheHost().Create(kBob, {.claim = IdempotencyClaim{"b", "key", "digest"}});
  ASSERT_TRUE(bobs);
  EXPECT_FALSE(bobs->replayed);
}

TEST_F(HostTest, EightWhoMakeASessionWithOneKeyGetTheSame) {
  for (int round = 0; round < 5; ++round) {
    const engine::NewSession wanted{.claim = IdempotencyClaim{"a", "key" + std::to_string(round), "digest"}};
    TheHost();
    std::latch start(8);
    std::mutex mutex;
    std::set<std::string> answers;
    {
      std::vector<std::jthread> threads;
      for (int i = 0; i < 8; ++i)
        threads.emplace_back([&] {
          start.arrive_and_wait();
          const auto made = TheHost().Create(kAlice, wanted);
          const std::scoped_lock lock(mutex);
          answers.insert(made ? made->session->id() : made.error().message);
        });
    }
    EXPECT_EQ(answers.size(), 1U) << testing::PrintToString(answers);
  }
}

TEST_F(HostTest, ARunIsBegunOnceForItsKey) {
  const auto session = Session("one");
  engine::Work work = Shell(session, "echo x >> count; cat count");
  work.claim = IdempotencyClaim{"a", "key", "digest"};
  const auto first = TheHost().Execute(kAlice, work, Place::kHere);
  const auto second = TheHost().Execute(kAlice, work, Place::kHere);
  ASSERT_TRUE(first && second);
  EXPECT_FALSE(first->replayed);
  EXPECT_TRUE(second->replayed);
  EXPECT_EQ(first->run->id(), second->run->id());
  EXPECT_EQ(Text(second->run), "x\n");
  EXPECT_EQ(second->run->end()->result, first->run->end()->result);
  EXPECT_EQ(OnDisk("one", "count"), "x\n");
  work.claim->request_sha256 = "another";
  EXPECT_EQ(CodeOf(TheHost().Execute(kAlice, work, Place::kHere)), Code::kConflict);
  // A key that was used for a run cannot be used for a session.
  EXPECT_EQ(CodeOf(TheHost().Create(kAlice, {.claim = work.claim})), Code::kConflict);
}

TEST_F(HostTest, ARepetitionIsNoRunOfTheLimit) {
  const auto session = Session("one");
  engine::Principal limited = kAlice;
  limited.most_runs = 1;
  engine::Work work = Shell(session, Until("go"));
  work.claim = IdempotencyClaim{"a", "key", "digest"};
  const auto first = TheHost().Execute(limited, work, Place::kBeside);
  ASSERT_TRUE(first);
  const auto second = TheHost().Execute(limited, work, Place::kBeside);
  EXPECT_TRUE(second) << second.error().message;
  EXPECT_TRUE(Write(session, "go", ""));
}

TEST_F(HostTest, EightWhoRunWithOneKeyGetTheSameRun) {
  const auto session = Session("one");
  for (int round = 0; round < 20; ++round) {
    engine::Work work = Shell(session, "echo x >> count; echo said");
    work.claim = IdempotencyClaim{"a", "key" + std::to_string(round), "digest"};
    std::latch start(8);
    std::mutex mutex;
    std::set<std::string> answers;
    {
      std::vector<std::jthread> threads;
      for (int i = 0; i < 8; ++i)
        threads.emplace_back([&] {
          start.arrive_and_wait();
          const auto begun = TheHost().Execute(kAlice, work, Place::kBeside);
          const std::string answer = begun ? OutcomeOf(begun->run) + " " + begun->run->id() : begun.error().message;
          const std::scoped_lock lock(mutex);
          answers.insert(answer);
        });
    }
    ASSERT_EQ(answers.size(), 1U) << "round " << round << testing::PrintToString(answers);
    EXPECT_TRUE(answers.begin()->starts_with("exited ")) << *answers.begin();
  }
  EXPECT_EQ(Says(session, "wc -l < count"), "20\n");
}

// --- questions to people

TEST_F(HostTest, WhatIsDangerousWaitsForAPersonAndRuns) {
  const auto session = Session("one");
  engine::Work work = Shell(session, "chmod 777 data; rm -rf temp; echo done");
  work.consent = Consent::kAsk;
  const auto run = Begin(work);
  ASSERT_TRUE(Eventually([&] { return TheHost().approvals().List().size() == 1; })) << OutcomeOf(run, 0s);
  EXPECT_EQ(run->state(), core::RunState::kWaiting);
  const auto asked = TheHost().approvals().List().front();
  EXPECT_EQ(asked->question.execution, run->id());
  EXPECT_EQ(core::NameOfSession(asked->question.session), "one");
  EXPECT_TRUE(fs::exists(Place("one", "temp")));
  EXPECT_FALSE(TheHost().approvals().Decide(asked->id, std::string(64, '0'), {.approve = true}));
  ASSERT_TRUE(TheHost().approvals().Decide(asked->id, asked->question.digest, {.approve = true, .by = "person"}));
  EXPECT_EQ(OutcomeOf(run), "exited");
  EXPECT_EQ(Text(run), "done\n");
  EXPECT_FALSE(fs::exists(Place("one", "temp")));
  EXPECT_TRUE(Eventually([&] {
    const auto kept = TheHost().options().store->Approvals({}).value();
    return kept.size() == 1 && kept[0].execution == run->id() && kept[0].decision == "approved" &&
           kept[0].decided_by == "person";
  }));
}

TEST_F(HostTest, WhatAPersonRejectsDoesNotRun) {
  const auto session = Session("one");
  engine::Work work = Shell(session, "rm -rf temp");
  work.consent = Consent::kAsk;
  const auto run = Begin(work);
  ASSERT_TRUE(Eventually([&] { return TheHost().approvals().List().size() == 1; }));
  const auto asked = TheHost().approvals().List().front();
  ASSERT_TRUE(TheHost().approvals().Decide(asked->id, asked->question.digest, {.by = "person", .reason = "no"}));
  EXPECT_EQ(OutcomeOf(run), "rejected");
  EXPECT_TRUE(fs::exists(Place("one", "temp")));
}

TEST_F(HostTest, WhatWaitsForAPersonCanBeCancelled) {
  const auto session = Session("one");
  engine::Work work = Shell(session, "rm -rf temp");
  work.consent = Consent::kAsk;
  const auto run = Begin(work);
  ASSERT_TRUE(Eventually([&] { return TheHost().approvals().List().size() == 1; }));
  run->Cancel();
  EXPECT_EQ(OutcomeOf(run), "cancelled");
  EXPECT_TRUE(TheHost().approvals().List().empty());
}

// --- runs

TEST_F(HostTest, ARunWithoutASessionHasASandboxOfItsOwn) {
  const auto run = Do(Shell(nullptr, "echo out; echo err >&2; ls -A; exit 3"));
  EXPECT_EQ(run->end()->Outcome(), "exited");
  EXPECT_EQ(run->end()->ExitCode(), 3);
  EXPECT_EQ(Text(run), "out\n");
  EXPECT_EQ(Text(run, core::Stream::kStderr), "err\n");
}

TEST_F(HostTest, OutputIsReadFromAnyOffsetWhileItRunsAndAfter) {
  const auto session = Session("one");
  const auto run = Begin(session, "echo 12345; " + Until("go") + "echo 6789 >&2");
  ASSERT_TRUE(Eventually([&] { return run->output_bytes() == 6; }));
  const auto read = [](const Run& of, std::uint64_t offset, std::size_t limit) {
    auto reader = of->Output(offset).value();
    std::string text;
    for (const engine::OutputPiece& piece : reader.Next(limit).value())
      text += (piece.stream == core::Stream::kStdout ? "o" : "e") + std::to_string(piece.offset) + ":" + piece.bytes;
    return text;
  };
  EXPECT_EQ(read(run, 2, 3), "o2:345");
  auto waiting = run->Output(6).value();
  EXPECT_TRUE(waiting.Next(100).value().empty());
  ASSERT_TRUE(Write(session, "go", ""));
  EXPECT_EQ(OutcomeOf(run), "exited");
  ASSERT_EQ(waiting.Next(100).value().size(), 1U);
  EXPECT_EQ(waiting.offset(), 11U);
  ASSERT_TRUE(Eventually([&] { return TheHost().CountRuns("one") == 0; }));
  const auto again = TheHost().FindRun(kAlice, run->id()).value();
  EXPECT_NE(again, run);
  EXPECT_EQ(read(again, 0, 100), "o0:12345\ne6:6789\n");
  EXPECT_EQ(read(again, 8, 2), "e8:89");
  EXPECT_EQ(read(again, 11, 100) + read(again, 1000, 100), "");
  EXPECT_EQ(again->output_bytes(), 11U);
  EXPECT_EQ(again->end()->Outcome(), "exited");
}

TEST_F(HostTest, ACancelledRunEndsAndKeepsWhatItWrote) {
  const auto session = Session("one");
  const auto run = Begin(session, "echo 1 > file; echo begun; sleep 60");
  ASSERT_TRUE(Eventually([&] { return run->output_bytes() == 6; }));
  run->Cancel();
  EXPECT_EQ(OutcomeOf(run), "cancelled");
  EXPECT_EQ(Text(run), "begun\n");
  EXPECT_EQ(OnDisk("one", "file"), "1\n");
  EXPECT_EQ(Says(session, "cat file"), "1\n");
}

TEST_F(HostTest, WhoeverAskedCanTakeTheRunWithThem) {
  const auto session = Session("one");
  std::stop_source gone;
  engine::Work work = Shell(session, "echo begun; sleep 60");
  work.cancel = gone.get_token();
  const auto run = Begin(work);
  ASSERT_TRUE(Eventually([&] { return run->output_bytes() == 6; }));
  gone.request_stop();
  EXPECT_EQ(OutcomeOf(run), "cancelled");
}

TEST_F(HostTest, ACommandTakesInputAndSignals) {
  const auto session = Session("one");
  engine::Work work = Shell(session, "trap 'echo caught; exit 7' USR1; read line; echo got $line; " + Until("never"));
  work.kind = "command";
  work.input = engine::Input::kPipe;
  const auto run = Begin(work);
  EXPECT_EQ(run->Feed("hello\n").value_or(0), 6U);
  ASSERT_TRUE(Eventually([&] { return run->output_bytes() == 10; }));
  EXPECT_TRUE(run->Signal(SIGUSR1));
  EXPECT_EQ(OutcomeOf(run), "exited");
  EXPECT_EQ(run->end()->ExitCode(), 7);
  EXPECT_EQ(Text(run), "got hello\ncaught\n");
  EXPECT_EQ(CodeOf(run->Feed("more")), Code::kConflict);
  EXPECT_EQ(CodeOf(run->Signal(SIGUSR1)), Code::kConflict);
  EXPECT_EQ(CodeOf(run->Resize({24, 80})), Code::kConflict);
  work = Shell(session, "cat");
  work.input_text = "given";
  EXPECT_EQ(Text(Do(work)), "given");
}

}  // namespace
}  // namespace skerry
