// What a session promises, whichever backend its sandbox comes from: files, tools, diff, undo, history, cells,
// approval, and a daemon that is started again. The commands are those that every backend understands, the fakes too.
#include <algorithm>

#include <gmock/gmock.h>

#include "backends/fake/fake_backend.hpp"
#include "backends/remote_fake/remote_fake_backend.hpp"
#include "backends/subprocess/subprocess_backend.hpp"
#include "core/history.hpp"
#include "host_fixture.hpp"

namespace skerry {
namespace {

using base::Code;
using engine::Consent;
using std::chrono_literals::operator""ms;
using std::chrono_literals::operator""s;
using testing::Contains;
using testing::HasSubstr;

struct Subject {
  std::string name;
  std::function<base::Result<std::unique_ptr<core::Backend>>()> make;
  policy::SecurityMode mode = policy::SecurityMode::kStrict;
  std::function<std::string()> unavailable = [] { return std::string(); };  // why the backend cannot be had here
};
void PrintTo(const Subject& subject, std::ostream* out) {
  *out << subject.name;
}

// Quick enough for many calls; the contract of backends uses the real latency.
std::shared_ptr<backends::remote_fake::Server> QuickServer() {
  return std::make_shared<backends::remote_fake::Server>(backends::remote_fake::Weather{.latency = 10ms});
}

class SessionContractTest : public HostTest, public testing::WithParamInterface<Subject> {
 protected:
  void SetUp() override {
    if (const std::string why = GetParam().unavailable(); !why.empty()) GTEST_SKIP() << why;
  }
  [[nodiscard]] base::Status AddBackends(core::BackendRegistry& registry) const override {
    SKERRY_ASSIGN_OR_RETURN(auto backend, GetParam().make());
    SKERRY_RETURN_IF_ERROR(backend->SweepOrphans(base::Deadline::After(10s)));
    return registry.Add(std::move(backend));
  }
  [[nodiscard]] engine::ManagerOptions Managing() const override {
    return {.mode = GetParam().mode, .default_backend = GetParam().name};
  }
  [[nodiscard]] core::Abilities Can() { return daemon_->registry.All().front()->Can(); }

  // A session that has a sandbox.
  HostedSession Ready(const std::string& id) {
    auto session = Session(id);
    EXPECT_EQ(Says(session, "echo ready"), "ready\n");
    return session;
  }
  std::string Cell(const HostedSession& session, const std::string& text) {
    const auto begun = TheHost().Execute(
        kAlice,
        {.session = session, .kind = "cell", .request = {.code = text, .context = "c"}, .consent = Consent::kGiven},
        engine::Place::kHere);
    return begun ? Text(begun->run) : begun.error().message;
  }
  // The history as text, newest last: kind, sandbox, changes.
  std::vector<std::string> History(const HostedSession& session) {
    std::vector<std::string> lines;
    const auto entries = core::LoadHistory(*TheHost().options().record, session->id(), {.limit = 1000});
    if (!entries) return {entries.error().message};
    for (const core::HistoryEntry& entry : *entries) {
      std::string line = entry.execution.kind + " " + entry.execution.sandbox;
      for (const core::FileChange& change : entry.changes)
        line += " " + std::string(core::NameOf(change.action)) + ":" + change.path;
      lines.push_back(std::move(line));
    }
    return lines;
  }
  base::Status AtRest(const HostedSession& session, const std::function<base::Status(engine::Session&)>& act) {
    return session->life().ChangeAtRest(act);
  }
};

const std::vector<Subject> kSubjects = {
    {.name = "native",
     .make = []() -> base::Result<std::unique_ptr<core::Backend>> {
       SKERRY_ASSIGN_OR_RETURN(const auto programs, launcher::ProgramPaths::BesideThisProgram());
       return std::make_unique<backends::native::NativeBackend>(programs);
     }},
    {.name = "subprocess",
     .make = []() -> base::Result<std::unique_ptr<core::Backend>> {
       SKERRY_ASSIGN_OR_RETURN(const auto programs, launcher::ProgramPaths::BesideThisProgram());
       return std::make_unique<backends::subprocess::SubprocessBackend>(programs, "/tmp");
     },
     .mode = policy::SecurityMode::kPermissive},
    {.name = "fake", .make = [] { return std::make_unique<backends::fake::FakeBackend>(); }},
    {.name = "remote_fake",
     .make = [] { return std::make_unique<backends::remote_fake::RemoteFakeBackend>(QuickServer()); }}};
INSTANTIATE_TEST_SUITE_P(Backends, SessionContractTest, testing::ValuesIn(kSubjects),
                         [](const auto& information) { return information.param.name; });

TEST_P(SessionContractTest, WhatACommandWritesIsThereForTheNextOneAndOnDisk) {
  const auto session = Session("one");
  EXPECT_EQ(Says(session, "mkdir sub; echo first > sub/a.txt; echo out"), "out\n");
  EXPECT_EQ(Says(session, "cat sub/a.txt"), "first\n");
  EXPECT_EQ(OnDisk("one", "sub/a.txt"), "first\n");
  EXPECT_EQ(Seen(session, "sub/a.txt"), "first\n");
  EXPECT_EQ(session->condition(), engine::Condition::kActive);
}

TEST_P(SessionContractTest, WhatACommandRemovesIsGone) {
  const auto session = Session("one");
  EXPECT_EQ(Says(session, "mkdir d; echo 1 > d/f; echo 2 > top"), "");
  EXPECT_EQ(Says(session, "rm -r d; rm top"), "");
  EXPECT_FALSE(std::filesystem::exists(Place("one", "d")));
  EXPECT_FALSE(std::filesystem::exists(Place("one", "top")));
  // An entry of another kind in the place of the old one.
  EXPECT_EQ(Says(session, "echo now > d; mkdir top; echo in > top/f"), "");
  EXPECT_EQ(OnDisk("one", "d"), "now\n");
  EXPECT_EQ(OnDisk("one", "top/f"), "in\n");
}

TEST_P(SessionContractTest, TheFilesThatWereThereBeforeAreSeenByPrograms) {
  const auto session = Session("one");
  ASSERT_TRUE(Write(session, "given.txt", "from outside\n"));
  EXPECT_EQ(Says(session, "cat given.txt"), "from outside\n");
}

TEST_P(SessionContractTest, ToolsAndProgramsSeeTheSameFiles) {
  const auto session = Ready("one");
  ASSERT_TRUE(Write(session, "tool.txt", "one two\n"));
  EXPECT_EQ(Says(session, "cat tool.txt; echo more >> tool.txt"), "one two\n");
  EXPECT_EQ(Seen(session, "tool.txt"), "one two\nmore\n");
  ASSERT_TRUE(session->life().Change([](engine::Session& files) -> base::Status {
    SKERRY_RETURN_IF_ERROR(files.Edit("tool.txt", {text::ReplaceText{"two", "2", 1}}, std::nullopt));
    SKERRY_RETURN_IF_ERROR(files.MakeDirectory("made", workspace::Parents::kMake));
    return {};
  }));
  EXPECT_EQ(Says(session, "cat tool.txt; echo in > made/f; cat made/f"), "one 2\nmore\nin\n");
  ASSERT_TRUE(session->life().Change([](engine::Session& files) -> base::Status {
    SKERRY_RETURN_IF_ERROR(files.Delete("made", workspace::Depth::kAll));
    return {};
  }));
  EXPECT_EQ(Says(session, "cat made/f"), "");
}

TEST_P(SessionContractTest, TheLastRunCanBeSeenAndTakenBack) {
  const auto session = Session("one");
  EXPECT_EQ(Says(session, "echo before > f; echo stays > other"), "");
  EXPECT_EQ(Says(session, "echo after > f; echo new > made; rm other"), "");
  std::string diff;
  ASSERT_TRUE(AtRest(session, [&](engine::Session& files) -> base::Status {
    SKERRY_ASSIGN_OR_RETURN(diff, files.Diff());
    return {};
  }));
  EXPECT_THAT(diff, HasSubstr("-before\n+after\n"));
  ASSERT_TRUE(AtRest(session, [](engine::Session& files) -> base::Status {
    SKERRY_RETURN_IF_ERROR(files.Undo(workspace::LaterWork::kStays));
    return {};
  }));
  EXPECT_EQ(Says(session, "cat f other"), "before\nstays\n");
  EXPECT_FALSE(std::filesystem::exists(Place("one", "made")));
}

TEST_P(SessionContractTest, ADryRunShowsAndChangesNothing) {
  const auto session = Session("one");
  EXPECT_EQ(Says(session, "echo before > f"), "");
  engine::Work work = Shell(session, "echo after > f; echo new > made");
  work.request.carry = core::Carry::kShow;
  const auto run = Do(std::move(work));
  EXPECT_EQ(OutcomeOf(run), "exited") << Text(run);
  EXPECT_THAT(run->end()->result.diff, HasSubstr("-before"));
  EXPECT_EQ(Says(session, "cat f made"), "before\n");
}

TEST_P(SessionContractTest, TheRecordTellsWhatEachDid) {
  const auto session = Session("one");
  const std::string name = GetParam().name;
  EXPECT_EQ(Says(session, "echo 1 > a"), "");
  ASSERT_TRUE(Write(session, "b", "2"));
  EXPECT_EQ(Says(session, "rm a"), "");
  auto history = History(session);
  history.erase(history.begin(), std::ranges::find_if(history, [](auto& line) { return line.starts_with("run"); }));
  EXPECT_THAT(history,
              testing::ElementsAre("run " + name + " created:a", "write  created:b", "run " + name + " removed:a"));
  ASSERT_TRUE(AtRest(session, [](engine::Session& files) -> base::Status {
    SKERRY_ASSIGN_OR_RETURN(const auto unrecorded, files.Unrecorded());
    EXPECT_TRUE(unrecorded.empty());
    return {};
  }));
}

TEST_P(SessionContractTest, CellsKeepTheirVariablesAndShareTheFiles) {
  const auto session = Ready("one");
  if (!Can().contexts || GetParam().name == "fake") GTEST_SKIP() << "this backend has no contexts";
  const auto made = session->life().CreateContext("c", core::Language::kShell);
  ASSERT_TRUE(made.has_value()) << made.error().message;
  EXPECT_EQ(Cell(session, "x=5"), "");
  EXPECT_EQ(Cell(session, "echo $x; echo cell > from-cell"), "5\n");
  // A cell has the record that every run has.
  const auto record = TheHost().options().record->Executions(session->id(), 0, 100).value().back();
  EXPECT_EQ(record.kind, "cell");
  EXPECT_EQ(record.sandbox, GetParam().name);
  EXPECT_NE(record.risk, "");
  EXPECT_NE(record.memory_mb, 0U);
  EXPECT_EQ(record.timeout_seconds, 30U);
  EXPECT_EQ(TheHost().options().record->ChangesOf(record.id).value().front().path, "from-cell");
  EXPECT_EQ(OnDisk("one", "from-cell"), "cell\n");
  EXPECT_EQ(Says(session, "cat from-cell"), "cell\n");
}

TEST_P(SessionContractTest, WhatIsRiskyWaitsForAPersonAndRunsAsItWasShown) {
  const auto session = Session("one");
  EXPECT_EQ(Says(session, "echo x > doomed; echo x > kept"), "");
  engine::Work work = Shell(session, "rm doomed; echo done");
  work.consent = Consent::kAsk;
  const auto run = Begin(std::move(work));
  ASSERT_TRUE(Eventually([&] { return TheHost().approvals().List().size() == 1; })) << Text(run);
  EXPECT_EQ(OnDisk("one", "doomed"), "x\n");
  const auto asked = TheHost().approvals().List().front();
  ASSERT_TRUE(TheHost().approvals().Decide(asked->id, asked->question.digest, {.approve = true, .by = "person"}));
  EXPECT_EQ(OutcomeOf(run), "exited") << Text(run);
  EXPECT_EQ(Text(run), "done\n");
  EXPECT_FALSE(std::filesystem::exists(Place("one", "doomed")));

  engine::Work refused = Shell(session, "rm kept");
  refused.consent = Consent::kAsk;
  const auto second = Begin(std::move(refused));
  ASSERT_TRUE(Eventually([&] { return TheHost().approvals().List().size() == 1; }));
  const auto question = TheHost().approvals().List().front();
  // A file that changed after the question was asked invalidates the approval.
  ASSERT_TRUE(Write(session, "kept", "something else"));
  ASSERT_TRUE(TheHost().approvals().Decide(question->id, question->question.digest, {.approve = true, .by = "person"}));
  EXPECT_EQ(OutcomeOf(second), "rejected");
  EXPECT_EQ(OnDisk("one", "kept"), "something else");
}

TEST_P(SessionContractTest, ATimeoutEndsTheCommandAndKeepsItsFiles) {
  const auto session = Ready("one");
  engine::Work late = Shell(session, "echo kept > f; sleep 60");
  late.request.timeout = 2s;
  EXPECT_EQ(OutcomeOf(Do(std::move(late))), "timed_out");
  EXPECT_EQ(OnDisk("one", "f"), "kept\n");
  EXPECT_EQ(Says(session, "cat f"), "kept\n");
}

TEST_P(SessionContractTest, CommandsRunBesideEachOther) {
  const auto session = Ready("one");
  const auto slow = Begin(session, "sleep 2; echo slow > slow");
  EXPECT_EQ(Says(session, "echo quick > quick; cat quick"), "quick\n");
  EXPECT_EQ(OutcomeOf(slow, 0s), "under way");
  EXPECT_EQ(OutcomeOf(slow), "exited");
  EXPECT_EQ(OnDisk("one", "slow") + OnDisk("one", "quick"), "slow\nquick\n");
}

TEST_P(SessionContractTest, ACommandCanBeFedAndCancelled) {
  const auto session = Ready("one");
  engine::Work work = Shell(session, "cat > fed");
  work.kind = "command";
  work.input = engine::Input::kPipe;
  const auto run = Begin(std::move(work));
  ASSERT_TRUE(run->Feed("some input\n").has_value());
  ASSERT_TRUE(run->EndInput().has_value());
  EXPECT_EQ(OutcomeOf(run), "exited");
  EXPECT_EQ(OnDisk("one", "fed"), "some input\n");
  const auto endless = Begin(session, "sleep 60");
  ASSERT_TRUE(Eventually([&] { return endless->state() == core::RunState::kRunning; }));
  endless->Cancel();
  EXPECT_EQ(OutcomeOf(endless), "cancelled");
}

TEST_P(SessionContractTest, ADaemonThatIsStartedAgainHasTheSessionWithItsFiles) {
  {
    const auto session = Session("one");
    EXPECT_EQ(Says(session, "echo kept > f"), "");
  }
  daemon_.reset();
  const auto session = TheHost().Find(kAlice, "one");
  ASSERT_TRUE(session.has_value()) << session.error().message;
  EXPECT_EQ(Seen(*session, "f"), "kept\n");
  EXPECT_EQ(Says(*session, "cat f; echo more >> f"), "kept\n");
  EXPECT_EQ(OnDisk("one", "f"), "kept\nmore\n");
}

TEST_P(SessionContractTest, ASessionThatRestsGoesOnWithItsFiles) {
  const auto session = Ready("one");
  EXPECT_EQ(Says(session, "echo kept > f"), "");
  ASSERT_TRUE(TheHost().Stop(*session));
  EXPECT_EQ(session->condition(), engine::Condition::kIdle);
  EXPECT_EQ(Says(session, "cat f"), "kept\n");
  ASSERT_TRUE(TheHost().Delete(kAlice, "one"));
  EXPECT_FALSE(std::filesystem::exists(Place("one")));
}

// --- a backend elsewhere, in bad weather

class RemoteSessionTest : public HostTest {
 protected:
  using Server = backends::remote_fake::Server;
  using Trouble = backends::remote_fake::Trouble;

  [[nodiscard]] base::Status AddBackends(core::BackendRegistry& registry) const override {
    auto remote = std::make_unique<backends::remote_fake::RemoteFakeBackend>(server_);
    SKERRY_RETURN_IF_ERROR(remote->SweepOrphans(base::Deadline::After(10s)));
    SKERRY_RETURN_IF_ERROR(registry.Add(std::move(remote)));
    return registry.Add(std::make_unique<backends::fake::FakeBackend>());
  }
  HostedSession Remote(const std::string& id) { return Session(id, {.backend = "remote_fake"}); }
  HostedSession Local(const std::string& id) { return Session(id, {.backend = "fake"}); }
  static std::chrono::milliseconds Took(const std::function<void()>& act) {
    const auto began = std::chrono::steady_clock::now();
    act();
    return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - began);
  }

  std::shared_ptr<Server> server_ =
      std::make_shared<Server>(backends::remote_fake::Weather{.latency = 5ms, .making = 0ms});
};

class SlowRemoteTest : public RemoteSessionTest {
 protected:
  SlowRemoteTest() {
    server_ = std::make_shared<Server>(backends::remote_fake::Weather{.latency = 5ms, .making = 30s});
  }
};

TEST_F(SlowRemoteTest, ASandboxThatTakesLongDelaysNobodyElseAndCanBeSeen) {
  const auto slow = Remote("slow");
  const auto other = Local("other");
  const auto run = Begin(slow, "echo hello");
  ASSERT_TRUE(Eventually([&] { return slow->condition() == engine::Condition::kCreating; }));
  EXPECT_LT(Took([&] {
              EXPECT_EQ(Says(other, "echo quick > f; cat f"), "quick\n");
              EXPECT_EQ(TheHost().List(kAlice).size(), 2U);
              EXPECT_EQ(slow->condition(), engine::Condition::kCreating);
              EXPECT_THAT(Seen(slow, ".memory/findings.md"), HasSubstr("Findings"));
              (void)Local("third");
            }),
            10s);
  EXPECT_EQ(OutcomeOf(run, 0s), "under way");
  // The creation of a sandbox can be cancelled.
  EXPECT_LT(Took([&] {
              run->Cancel();
              EXPECT_EQ(OutcomeOf(run), "cancelled");
            }),
            10s);
  EXPECT_EQ(server_->CountMachines(), 0U);
}

TEST_F(SlowRemoteTest, DeletingASessionEndsTheMakingOfItsSandbox) {
  const auto slow = Remote("slow");
  const auto run = Begin(slow, "echo hello");
  ASSERT_TRUE(Eventually([&] { return slow->condition() == engine::Condition::kCreating; }));
  EXPECT_LT(Took([&] { EXPECT_TRUE(TheHost().Delete(kAlice, "slow")); }), 10s);
  EXPECT_TRUE(Eventually([&] { return server_->CountMachines() == 0; }));
}

TEST_F(RemoteSessionTest, ASandboxThatCannotBeMadeIsAFailedSessionUntilItCan) {
  server_->Upset("make", Trouble::kFail);
  const auto session = Remote("one");
  EXPECT_THAT(Says(session, "echo hello"), HasSubstr("503"));
  EXPECT_EQ(session->condition(), engine::Condition::kFailed);
  EXPECT_THAT(session->life().failure(), HasSubstr("503"));
  EXPECT_EQ(Says(session, "echo hello"), "hello\n");
  EXPECT_EQ(session->condition(), engine::Condition::kActive);
}

TEST_F(RemoteSessionTest, AMachineThatVanishesIsReplacedOnTheSameFiles) {
  const auto session = Remote("one");
  EXPECT_EQ(Says(session, "echo kept > f"), "");
  server_->LoseMachines();
  EXPECT_EQ(Says(session, "cat f"), "kept\n");
  const auto run = Begin(session, "echo lost > g; sleep 60");
  ASSERT_TRUE(Eventually([&] { return run->state() == core::RunState::kRunning; }));
  std::this_thread::sleep_for(200ms);
  server_->LoseMachines();
  EXPECT_EQ(OutcomeOf(run), "lost");
  EXPECT_THAT(run->end()->result.degraded, Contains(HasSubstr("the sandbox was lost")));
  EXPECT_EQ(Says(session, "cat f"), "kept\n");
  EXPECT_EQ(server_->CountMachines(), 1U);
}

TEST_F(RemoteSessionTest, ChangesThatCouldNotBeReadAreReadTheNextTime) {
  const auto session = Remote("one");
  EXPECT_EQ(Says(session, "echo first"), "first\n");
  server_->Upset("export", Trouble::kFail);
  const auto run = Do(session, "echo written > f");
  EXPECT_EQ(OutcomeOf(run), "exited");
  EXPECT_THAT(run->end()->result.degraded, Contains(HasSubstr("could not be read")));
  EXPECT_EQ(Says(session, "echo next"), "next\n");
  EXPECT_EQ(OnDisk("one", "f"), "written\n");
  // When the files cannot be marked, nothing is run.
  server_->Upset("mark", Trouble::kFail);
  EXPECT_THAT(Says(session, "echo again > g"), HasSubstr("503"));
  EXPECT_EQ(Says(session, "cat f g"), "written\n");
}

TEST_F(RemoteSessionTest, AnAnswerThatIsLostDoesNotLoseTheFiles) {
  const auto session = Remote("one");
  ASSERT_TRUE(Write(session, "f", "one\n"));
  server_->Upset("import", Trouble::kLose);
  EXPECT_THAT(Says(session, "cat f"), testing::AnyOf("one\n", HasSubstr("connection")));
  EXPECT_EQ(Says(session, "cat f"), "one\n");
  server_->Upset("import", Trouble::kFail);
  ASSERT_TRUE(Write(session, "f", "two\n"));
  EXPECT_EQ(Says(session, "cat f"), "two\n");
}

TEST_F(RemoteSessionTest, AHangingCallEndsAtTheTimeOfTheCommand) {
  const auto session = Remote("one");
  EXPECT_EQ(Says(session, "echo first"), "first\n");
  server_->Upset("poll", Trouble::kHang);
  engine::Work work = Shell(session, "echo hung");
  work.request.timeout = 1s;
  EXPECT_EQ(OutcomeOf(Do(std::move(work))), "timed_out");
  EXPECT_EQ(Says(session, "echo again"), "again\n");
}

TEST_F(RemoteSessionTest, ARunThatIsCancelledBeforeItsProgramBeginsIsCancelled) {
  const auto session = Remote("one");
  EXPECT_EQ(Says(session, "echo first"), "first\n");
  const auto cancelled = [&](engine::Work work) {
    const auto run = Begin(std::move(work));
    EXPECT_TRUE(Eventually([&] { return run->state() == core::RunState::kRunning; }));
    run->Cancel();
    return OutcomeOf(run);
  };
  // While the files are brought that a tool changed.
  server_->Upset("import", Trouble::kFail);
  ASSERT_TRUE(Write(session, "f", "new\n"));
  server_->Upset("import", Trouble::kHang);
  EXPECT_EQ(cancelled(Shell(session, "cat f")), "cancelled");
  // While a sandbox of its own is made.
  engine::Work dry = Shell(session, "cat f");
  dry.request.carry = core::Carry::kShow;
  server_->Upset("make", Trouble::kHang);
  EXPECT_EQ(cancelled(std::move(dry)), "cancelled");
  // In place of one that was lost.
  server_->LoseMachines();
  server_->Upset("make", Trouble::kHang);
  EXPECT_EQ(cancelled(Shell(session, "cat f")), "cancelled");
  EXPECT_EQ(Says(session, "cat f"), "new\n");
}

TEST_F(RemoteSessionTest, ASampleThatHangsStallsNobody) {
  const auto session = Remote("one");
  const auto other = Local("other");
  EXPECT_EQ(Says(session, "echo first"), "first\n");
  server_->Upset("sample", Trouble::kHang, 100);
  std::this_thread::sleep_for(1500ms);  // the monitor takes a sample
  EXPECT_LT(Took([&] {
              EXPECT_EQ(Says(other, "echo quick"), "quick\n");
              EXPECT_EQ(TheHost().List(kAlice).size(), 2U);
              EXPECT_EQ(session->condition(), engine::Condition::kActive);
            }),
            5s);
}

TEST_F(RemoteSessionTest, WhatADaemonThatWasKilledLeftIsSweptByTheNext) {
  {
    // Like a killed daemon: its lease ends, and its machines are not deleted.
    backends::remote_fake::RemoteFakeBackend killed(server_);
    auto sandbox = killed.Create({});
    ASSERT_TRUE(sandbox && (*sandbox)->Start(base::Deadline::Never(), {}));
    server_->Upset("delete", Trouble::kFail, 10);
  }
  EXPECT_EQ(server_->CountMachines(), 1U);
  const auto session = Remote("one");
  EXPECT_EQ(server_->CountMachines(), 0U);
  EXPECT_EQ(Says(session, "echo hello"), "hello\n");
}

}  // namespace
}  // namespace skerry
