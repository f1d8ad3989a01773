// What is left when a Host ends, and when it is killed.
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "host_fixture.hpp"
#include "os/pipe.hpp"

namespace skerry {
namespace {

namespace fs = std::filesystem;
using base::Code;
using engine::Condition;
using engine::Place;
using std::chrono_literals::operator""s;

class HostRecoveryTest : public HostTest {
 protected:
  // Runs `act` in a daemon in another process, which is killed after that. Gives the result of `act`.
  std::string InKilledDaemon(const std::function<std::string()>& act) {
    auto pipe = os::Pipe::Create().value();
    const pid_t child = ::fork();
    if (child == 0) {
      const std::string said = act();
      (void)!::write(pipe.write_end.get(), said.data(), said.size());
      ::pause();
      ::_exit(1);
    }
    pipe.write_end.Reset();
    std::string said(4096, '\0');
    said.resize(static_cast<std::size_t>(std::max<ssize_t>(0, ::read(pipe.read_end.get(), said.data(), said.size()))));
    ::kill(child, SIGKILL);
    int status = 0;
    ::waitpid(child, &status, 0);
    EXPECT_TRUE(WIFSIGNALED(status));
    return said;
  }
  void Restart() {
    daemon_.reset();
    TheHost();
  }
};

TEST_F(HostRecoveryTest, EndsWithinSecondsWhileCommandsRun) {
  const auto session = Session("one");
  const auto sleeping = Begin(session, "echo 1 > file; echo begun; trap '' TERM INT; sleep 600");
  const auto alone = Begin(Shell(nullptr, "echo begun; sleep 600"));
  engine::Work asks = Shell(session, "rm -rf temp");
  asks.consent = engine::Consent::kAsk;
  const auto asking = Begin(asks);
  ASSERT_TRUE(Eventually([&] {
    return sleeping->output_bytes() > 0 && alone->output_bytes() > 0 && TheHost().approvals().List().size() == 1;
  }));
  const auto start = std::chrono::steady_clock::now();
  daemon_->host.reset();
  EXPECT_LT(std::chrono::steady_clock::now() - start, 8s);
  EXPECT_EQ(OutcomeOf(sleeping, 0s), "cancelled");
  EXPECT_EQ(OutcomeOf(alone, 0s), "cancelled");
  EXPECT_EQ(OutcomeOf(asking, 0s), "cancelled");
  EXPECT_EQ(OnDisk("one", "file"), "1\n");
}

TEST_F(HostRecoveryTest, EndsWithinSecondsWhileASessionIsPaused) {
  const auto session = Session("one");
  const auto run = Begin(session, "echo begun; sleep 600");
  ASSERT_TRUE(Eventually([&] { return run->output_bytes() > 0; }));
  const auto paused = session->life().Pause();
  if (!paused && paused.error().code == Code::kUnavailable) GTEST_SKIP() << paused.error().message;
  const auto start = std::chrono::steady_clock::now();
  daemon_->host.reset();
  EXPECT_LT(std::chrono::steady_clock::now() - start, 8s);
  EXPECT_EQ(OutcomeOf(run, 0s), "cancelled");
}

TEST_F(HostRecoveryTest, TheNextOneFindsSessionsRunsAndKeys) {
  const engine::SessionSettings settings{.limits = {.memory_mb = 256}, .timeout = 7s, .metadata = {{"k", "v"}}};
  ASSERT_TRUE(TheHost().Create(kAlice, {.name = "one", .settings = settings, .ttl = 600s}));
  engine::Work work = Shell(TheHost().Find(kAlice, "one").value(), "echo 1 > file; echo said");
  work.request.max_memory_mb = 256;
  work.claim = core::IdempotencyClaim{"a", "key", "digest"};
  const std::string id = Do(work)->id();
  work.session.reset();
  Restart();
  const auto session = TheHost().Find(kAlice, "one").value();
  EXPECT_EQ(session->settings(), settings);
  EXPECT_EQ(session->condition(), Condition::kIdle);
  EXPECT_TRUE(session->record(false).expires_at.has_value());
  EXPECT_FALSE(TheHost().Find(kBob, "one"));
  const auto run = TheHost().FindRun(kAlice, id).value();
  EXPECT_EQ(run->state(), core::RunState::kDone);
  EXPECT_EQ(run->end()->Outcome(), "exited");
  EXPECT_EQ(Text(run), "said\n");
  work.session = session;
  const auto again = TheHost().Execute(kAlice, work, Place::kHere);
  ASSERT_TRUE(again);
  EXPECT_TRUE(again->replayed);
  EXPECT_EQ(again->run->id(), id);
  work.claim.reset();
  work.request.code = "cat file";
  EXPECT_EQ(Text(Do(work)), "1\n");
}

TEST_F(HostRecoveryTest, AKilledOneLosesItsRunsAndNothingElse) {
  const std::string id = InKilledDaemon([&] {
    const auto session = Session("one");
    Do(session, "echo committed > file");
    const auto run = Begin(session, "echo so far; echo lost > half; sleep 600");
    Eventually([&] { return run->output_bytes() == 7; });
    return run->id();
  });
  const auto session = TheHost().Find(kAlice, "one").value();
  EXPECT_EQ(session->condition(), Condition::kCrashed);
  const auto run = TheHost().FindRun(kAlice, id);
  ASSERT_TRUE(run) << id;
  EXPECT_EQ((*run)->state(), core::RunState::kLost);
  EXPECT_EQ((*run)->end()->Outcome(), "lost");
  EXPECT_EQ(Text(*run), "so far\n");
  EXPECT_EQ((*run)->output_bytes(), 7U);
  EXPECT_TRUE((*run)->ended_at().has_value());
  EXPECT_EQ(TheHost().CountRuns("one"), 0U);
  EXPECT_EQ(Seen(session, "file"), "committed\n");
  EXPECT_EQ(Says(session, "cat file; pgrep -c sleep"), "committed\n0\n");
  EXPECT_EQ(session->condition(), Condition::kActive);
  ASSERT_TRUE(session->life().Rest());
  EXPECT_EQ(session->condition(), Condition::kIdle);
  // The run is lost for good.
  Restart();
  EXPECT_EQ(TheHost().FindRun(kAlice, id).value()->state(), core::RunState::kLost);
  EXPECT_EQ(TheHost().Find(kAlice, "one").value()->condition(), Condition::kIdle);
}

TEST_F(HostRecoveryTest, WhatWasAskedWithAKeyIsNotRunAgainAfterAKill) {
  const auto work = [](const HostedSession& session) {
    engine::Work with_key = Shell(session, "echo x >> count; echo so far; sleep 600");
    with_key.claim = core::IdempotencyClaim{"a", "key", "digest"};
    return with_key;
  };
  const std::string id = InKilledDaemon([&] {
    const auto run = Begin(work(Session("one")));
    Eventually([&] { return run->output_bytes() == 7; });
    return run->id();
  });
  const auto again = TheHost().Execute(kAlice, work(TheHost().Find(kAlice, "one").value()), Place::kHere);
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_TRUE(again->replayed);
  EXPECT_EQ(again->run->id(), id);
  EXPECT_EQ(again->run->state(), core::RunState::kLost);
}

TEST_F(HostRecoveryTest, SharedSessionsAreThereAfterAKill) {
  const engine::SessionSettings shared{.mode = engine::LifeMode::kShared};
  InKilledDaemon([&] {
    const auto one = Session("one", shared);
    Session("two", shared);
    Do(one, "echo 1 > file");
    return std::string("done");
  });
  const auto two = TheHost().Find(kAlice, "two").value();
  EXPECT_EQ(Says(two, "cat file"), "1\n");
  EXPECT_EQ(&two->life(), &TheHost().Find(kAlice, "one").value()->life());
}

TEST_F(HostRecoveryTest, ASecondOneOnTheSameStateIsRefused) {
  Session("one");
  const auto second = StartDaemon();
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, Code::kConflict);
  EXPECT_EQ(Says(TheHost().Find(kAlice, "one").value(), "echo well"), "well\n");
  daemon_.reset();
  EXPECT_TRUE(StartDaemon());
}

TEST_F(HostRecoveryTest, ASessionWithoutItsDirectoryIsForgottenAndOneWithoutARowIsAdopted) {
  Session("gone");
  Session("kept");
  daemon_.reset();
  fs::remove_all(Place("gone"));
  {
    const auto record = std::shared_ptr(store::SqliteRecordStore::Open((home_ / "record.db").string(), {}).value());
    const engine::Sessions sessions({.base_dir = (home_ / "workspaces").string()},
                                    std::make_shared<engine::Recorder>(engine::RecorderOptions{.store = record}));
    ASSERT_TRUE(sessions.Create("by-hand"));
  }
  EXPECT_FALSE(TheHost().Find(kOwner, "gone"));
  EXPECT_TRUE(TheHost().Find(kAlice, "kept"));
  EXPECT_FALSE(TheHost().Find(kAlice, "by-hand"));
  EXPECT_EQ(TheHost().Find(kOwner, "by-hand").value()->tenant(), "local");
}

TEST_F(HostRecoveryTest, OldResultsOfRunsWithoutASessionAreForgotten) {
  options_.keep_results = 1s;
  const auto session = Session("one");
  const auto kept = Do(session, "echo 1");
  const auto old = Do(Shell(nullptr, "echo 1"));
  EXPECT_TRUE(Eventually([&] { return !TheHost().FindRun(kAlice, old->id()); }));
  EXPECT_FALSE(fs::exists(home_ / "state/outputs" / old->id()));
  EXPECT_TRUE(TheHost().FindRun(kAlice, kept->id()));
}

}  // namespace
}  // namespace skerry
