#include "store/sqlite_service_store.hpp"

#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "store/service_fixture.hpp"

namespace skerry::store {
namespace {

using base::Code;
using core::RunState;
using core::TokenScope;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr std::uint64_t kHuge = std::numeric_limits<std::uint64_t>::max();

class SqliteServiceStoreTest : public ServiceTest {
 protected:
  void SetUp() override {
    store_ = OpenService();
    ASSERT_TRUE(store_->AddHosted({.id = "s", .tenant = "t"}, std::nullopt));
  }

  template <class Records>
  static std::vector<std::string> Ids(const Records& records) {
    std::vector<std::string> ids;
    for (const auto& record : records.value()) ids.push_back(record.id);
    return ids;
  }

  void Begin(const core::RunRecord& run) { ASSERT_TRUE(store_->BeginRun(run, std::nullopt)) << run.id; }
  void Ended(const std::string& id, std::int64_t at, const std::string& session = "") {
    ASSERT_TRUE(store_->BeginRun(ARun(id, session), AClaim("key of " + id)));
    ASSERT_TRUE(store_->EndRun(id, {.state = RunState::kDone}, At(at)));
  }
  // Reopens the file, so that everything comes from the disk.
  void Reopen() { store_ = OpenService(); }

  std::unique_ptr<SqliteServiceStore> store_;
};

core::TokenRecord AToken(const std::string& id) {
  return {.id = id,
          .name = "laptop \x01 \"é\"",
          .tenant = "t",
          .scopes = {TokenScope::kRead, TokenScope::kRun},
          .secret_sha256 = "sha256 of " + id,
          .limits = {.requests_per_second = kHuge, .concurrent_runs = 2, .sessions = 3},
          .created_by = "me",
          .created_at = At(5) + std::chrono::microseconds(1)};
}

TEST_F(SqliteServiceStoreTest, ATokenComesBackAsItWas) {
  auto all = AToken("tok1");
  all.scopes = {TokenScope::kRead, TokenScope::kRun, TokenScope::kApprove, TokenScope::kAdmin};
  all.expires_at = At(100);
  auto none = AToken("tok0");
  none.scopes = {};
  ASSERT_TRUE(store_->AddToken(all));
  ASSERT_TRUE(store_->AddToken(none));
  Reopen();
  EXPECT_THAT(store_->Tokens().value(), ElementsAre(all, none));
}

TEST_F(SqliteServiceStoreTest, ATokenThatIsThereIsAConflict) {
  ASSERT_TRUE(store_->AddToken(AToken("tok1")));
  EXPECT_EQ(store_->AddToken(AToken("tok1")).error().code, Code::kConflict);
  auto same_secret = AToken("tok1");
  same_secret.id = "tok2";
  EXPECT_EQ(store_->AddToken(same_secret).error().code, Code::kConflict);
  EXPECT_EQ(store_->Tokens()->size(), 1U);
}

TEST_F(SqliteServiceStoreTest, OfTwoRevocationsTheFirstCounts) {
  ASSERT_TRUE(store_->AddToken(AToken("tok1")));
  ASSERT_TRUE(store_->AddToken(AToken("tok2")));
  ASSERT_TRUE(store_->RevokeToken("tok1", At(7)));
  ASSERT_TRUE(store_->RevokeToken("tok1", At(9)));
  EXPECT_EQ(store_->Tokens()->at(0).revoked_at, At(7));
  EXPECT_EQ(store_->Tokens()->at(1).revoked_at, std::nullopt);
  EXPECT_EQ(store_->RevokeToken("tok", At(7)).error().code, Code::kNotFound);
}

TEST_F(SqliteServiceStoreTest, AScopeThatIsNoneOfOursIsDamage) {
  ASSERT_TRUE(store_->AddToken(AToken("tok1")));
  ASSERT_TRUE(Database::Open(Path(), {}).value()->Execute("UPDATE tokens SET scopes = 'read root'"));
  EXPECT_THAT(store_->Tokens().error().message, HasSubstr("is damaged (it says 'root')"));
}

TEST_F(SqliteServiceStoreTest, HostedSessionsComeBackInTheOrderOfTheirCreation) {
  const core::HostedSessionRecord first{
      .id = "b", .tenant = "t", .settings = "{}", .created_at = At(9), .in_use = true};
  const core::HostedSessionRecord second{.id = "a", .tenant = "u", .created_at = At(1), .expires_at = At(60)};
  ASSERT_TRUE(store_->RemoveHosted("s"));
  ASSERT_TRUE(store_->AddHosted(first, std::nullopt));
  ASSERT_TRUE(store_->AddHosted(second, std::nullopt));
  Reopen();
  EXPECT_THAT(store_->Hosted().value(), ElementsAre(first, second));
}

TEST_F(SqliteServiceStoreTest, AnUpdateOfASessionLeavesWhoseItIs) {
  ASSERT_TRUE(store_->UpdateHosted(
      {.id = "s", .tenant = "other", .settings = "new", .created_at = At(50), .expires_at = At(60), .in_use = true}));
  const core::HostedSessionRecord expected{
      .id = "s", .tenant = "t", .settings = "new", .expires_at = At(60), .in_use = true};
  EXPECT_THAT(store_->Hosted().value(), ElementsAre(expected));
  ASSERT_TRUE(store_->UpdateHosted({.id = "s"}));
  EXPECT_EQ(store_->Hosted()->at(0).expires_at, std::nullopt);
  EXPECT_EQ(store_->UpdateHosted({.id = "none"}).error().code, Code::kNotFound);
}

TEST_F(SqliteServiceStoreTest, ASessionThatIsThereIsAConflictAndItsKeyStaysNew) {
  EXPECT_EQ(store_->AddHosted({.id = "s"}, AClaim("k")).error().code, Code::kConflict);
  EXPECT_EQ(store_->FindClaim("t", "k").error().code, Code::kNotFound);
  EXPECT_EQ(store_->AddHosted({.id = ""}, std::nullopt).error().code, Code::kInvalidArgument);
}

TEST_F(SqliteServiceStoreTest, AKnownKeyAddsNoSession) {
  ASSERT_TRUE(store_->AddHosted({.id = "a", .tenant = "t"}, AClaim("k")));
  EXPECT_EQ(store_->AddHosted({.id = "b", .tenant = "t"}, AClaim("k")).error().code, Code::kConflict);
  EXPECT_THAT(Ids(store_->Hosted()), ElementsAre("s", "a"));
  EXPECT_EQ(store_->FindClaim("t", "k")->made, "a");
}

TEST_F(SqliteServiceStoreTest, ASessionGoesWithItsRunsAndAllKeys) {
  ASSERT_TRUE(store_->AddHosted({.id = "gone"}, AClaim("session")));
  ASSERT_TRUE(store_->BeginRun(ARun("r1", "gone"), AClaim("run")));
  ASSERT_TRUE(store_->BeginRun(ARun("r2", "s"), AClaim("other")));
  ASSERT_TRUE(store_->BeginRun(ARun("r3"), AClaim("alone")));
  ASSERT_TRUE(store_->RemoveHosted("gone"));
  EXPECT_THAT(Ids(store_->Hosted()), ElementsAre("s"));
  EXPECT_THAT(Ids(store_->Runs({})), ElementsAre("r3", "r2"));
  for (const char* key : {"session", "run"}) EXPECT_FALSE(store_->FindClaim("t", key)) << key;
  for (const char* key : {"other", "alone"}) EXPECT_TRUE(store_->FindClaim("t", key)) << key;
  EXPECT_EQ(store_->RemoveHosted("gone").error().code, Code::kNotFound);
  EXPECT_EQ(store_->RemoveHosted("").error().code, Code::kNotFound);
}

TEST_F(SqliteServiceStoreTest, ASessionGoesWithAnyNumberOfRuns) {
  for (int runs : {99, 100, 101, 250}) {
    ASSERT_TRUE(store_->AddHosted({.id = "many"}, std::nullopt));
    for (int i = 0; i < runs; ++i) Begin(ARun("r" + std::to_string(i), "many"));
    ASSERT_TRUE(store_->RemoveHosted("many"));
    EXPECT_THAT(Ids(store_->Runs({})), IsEmpty());
    EXPECT_THAT(Ids(store_->Hosted()), ElementsAre("s"));
  }
}

TEST_F(SqliteServiceStoreTest, TheIdOfARemovedSessionMayBeUsedAgain) {
  Begin(ARun("old", "s"));
  ASSERT_TRUE(store_->RemoveHosted("s"));
  ASSERT_TRUE(store_->AddHosted({.id = "s", .tenant = "u"}, std::nullopt));
  EXPECT_EQ(store_->Hosted()->at(0).tenant, "u");
  EXPECT_THAT(Ids(store_->Runs({.session = "s"})), IsEmpty());
}

TEST_F(SqliteServiceStoreTest, ARunComesBackAsItWas) {
  std::string bytes;
  for (int i = 0; i < 256; ++i) bytes += static_cast<char>(i);
  core::RunRecord run{.id = "r",
                      .session = "s",
                      .tenant = "t",
                      .kind = "cell",
                      .language = "python",
                      .what = bytes,
                      .state = RunState::kWaiting,
                      .created_at = At(3) + std::chrono::microseconds(7)};
  run.sequence = store_->BeginRun(run, std::nullopt).value();
  EXPECT_EQ(store_->FindRun("r").value(), run);
  run.state = RunState::kDone;
  run.end = core::RunEnd{.result = {.execution_id = "r", .diff = std::string(20'000, 'x')}};
  run.ended_at = At(4);
  ASSERT_TRUE(store_->EndRun("r", *run.end, At(4)));
  Reopen();
  EXPECT_EQ(store_->FindRun("r").value(), run);
  EXPECT_EQ(store_->FindRun("R").error().code, Code::kNotFound);
}

TEST_F(SqliteServiceStoreTest, ARunBeginsWaitingOrRunningAndWithoutAnEnd) {
  for (const auto state : {RunState::kDone, RunState::kLost}) {
    auto run = ARun("r");
    run.state = state;
    EXPECT_EQ(store_->BeginRun(run, std::nullopt).error().code, Code::kInvalidArgument);
  }
  auto run = ARun("r");
  run.end = core::RunEnd{};
  run.ended_at = At(1);
  Begin(run);
  EXPECT_EQ(store_->FindRun("r")->end, std::nullopt);
  EXPECT_EQ(store_->FindRun("r")->ended_at, std::nullopt);
}

TEST_F(SqliteServiceStoreTest, ARunNeedsItsSession) {
  EXPECT_EQ(store_->BeginRun(ARun("r", "none"), AClaim("k")).error().code, Code::kNotFound);
  EXPECT_FALSE(store_->FindClaim("t", "k"));
  EXPECT_FALSE(store_->FindRun("r"));
}

TEST_F(SqliteServiceStoreTest, SequencesGrowAndAreNotUsedTwice) {
  const auto first = store_->BeginRun(ARun("a", "s"), std::nullopt).value();
  const auto second = store_->BeginRun(ARun("b", "s"), std::nullopt).value();
  EXPECT_GT(second, first);
  ASSERT_TRUE(store_->RemoveHosted("s"));
  EXPECT_GT(store_->BeginRun(ARun("c"), std::nullopt).value(), second);
}

TEST_F(SqliteServiceStoreTest, ARunThatIsThereIsAConflictAndItsKeyStaysNew) {
  Begin(ARun("r"));
  EXPECT_EQ(store_->BeginRun(ARun("r"), AClaim("k")).error().code, Code::kConflict);
  EXPECT_FALSE(store_->FindClaim("t", "k"));
}

TEST_F(SqliteServiceStoreTest, AKnownKeyBeginsNoRun) {
  ASSERT_TRUE(store_->BeginRun(ARun("r1"), AClaim("k")));
  auto claim = AClaim("k");
  claim.request_sha256 = "another";
  EXPECT_EQ(store_->BeginRun(ARun("r2"), claim).error().code, Code::kConflict);
  EXPECT_EQ(store_->FindRun("r2").error().code, Code::kNotFound);
  const auto found = store_->FindClaim("t", "k").value();
  EXPECT_EQ(found.made, "r1");
  EXPECT_EQ(found.request_sha256, AClaim("k").request_sha256);
  ASSERT_TRUE(store_->BeginRun(ARun("r2"), AClaim("k2"))) << "the connection is as before";
}

TEST_F(SqliteServiceStoreTest, TenantsHaveKeysOfTheirOwn) {
  ASSERT_TRUE(store_->BeginRun(ARun("r1"), AClaim("k", "t")));
  EXPECT_EQ(store_->FindClaim("u", "k").error().code, Code::kNotFound);
  ASSERT_TRUE(store_->BeginRun(ARun("r2", "", "u"), AClaim("k", "u")));
  EXPECT_EQ(store_->FindClaim("t", "k")->made, "r1");
  EXPECT_EQ(store_->FindClaim("u", "k")->made, "r2");
}

TEST_F(SqliteServiceStoreTest, ARunHasOneFinalState) {
  Begin(ARun("r"));
  for (const auto state : {RunState::kWaiting, RunState::kRunning})
    EXPECT_EQ(store_->EndRun("r", {.state = state}, At(1)).error().code, Code::kInvalidArgument);
  ASSERT_TRUE(store_->EndRun("r", {.state = RunState::kLost, .result = {.diff = "first"}}, At(1)));
  EXPECT_EQ(store_->EndRun("r", {.result = {.diff = "second"}}, At(2)).error().code, Code::kConflict);
  const auto run = store_->FindRun("r").value();
  EXPECT_EQ(run.state, RunState::kLost);
  EXPECT_EQ(run.end->result.diff, "first");
  EXPECT_EQ(run.ended_at, At(1));
  EXPECT_EQ(store_->EndRun("none", {.state = RunState::kDone}, At(1)).error().code, Code::kNotFound);
}

TEST_F(SqliteServiceStoreTest, TheSchemaRefusesStatesThatCannotBe) {
  Begin(ARun("r"));
  const auto database = Database::Open(Path(), {}).value();
  for (const char* sql : {"UPDATE runs SET state = 'odd'", "UPDATE runs SET state = 'done'",
                          "UPDATE runs SET ended_at = 1", "UPDATE hosted_sessions SET in_use = 2"})
    EXPECT_FALSE(database->Execute(sql)) << sql;
}

TEST_F(SqliteServiceStoreTest, RunsAreFilteredAndTheNewestComesFirst) {
  ASSERT_TRUE(store_->AddHosted({.id = "s2", .tenant = "u"}, std::nullopt));
  Begin(ARun("a", "s", "t"));
  Begin(ARun("b", "", "t"));
  Begin(ARun("c", "s2", "u"));
  Begin(ARun("d", "", "u"));
  auto cell = ARun("e", "s", "t");
  cell.kind = "cell";
  cell.state = RunState::kWaiting;
  Begin(cell);
  ASSERT_TRUE(store_->EndRun("a", {.state = RunState::kDone}, At(1)));
  ASSERT_TRUE(store_->EndRun("d", {.state = RunState::kLost}, At(1)));

  EXPECT_THAT(Ids(store_->Runs({})), ElementsAre("e", "d", "c", "b", "a"));
  EXPECT_THAT(Ids(store_->Runs({.tenant = "t"})), ElementsAre("e", "b", "a"));
  EXPECT_THAT(Ids(store_->Runs({.session = "s"})), ElementsAre("e", "a"));
  EXPECT_THAT(Ids(store_->Runs({.session = ""})), ElementsAre("d", "b"));
  EXPECT_THAT(Ids(store_->Runs({.tenant = "u", .session = ""})), ElementsAre("d"));
  EXPECT_THAT(Ids(store_->Runs({.tenant = "u", .session = "s"})), IsEmpty());
  EXPECT_THAT(Ids(store_->Runs({.kind = "cell"})), ElementsAre("e"));
  EXPECT_THAT(Ids(store_->Runs({.tenant = "t", .session = "s", .kind = "execute"})), ElementsAre("a"));
  EXPECT_THAT(Ids(store_->Runs({.state = RunState::kRunning})), ElementsAre("c", "b"));
  EXPECT_THAT(Ids(store_->Runs({.state = RunState::kWaiting})), ElementsAre("e"));
  EXPECT_THAT(Ids(store_->Runs({.state = RunState::kDone})), ElementsAre("a"));
  EXPECT_THAT(Ids(store_->Runs({.tenant = "t", .session = "s", .state = RunState::kDone})), ElementsAre("a"));
  EXPECT_THAT(Ids(store_->Runs({.tenant = "u", .state = RunState::kLost})), ElementsAre("d"));
  EXPECT_THAT(Ids(store_->Runs({.tenant = "t", .state = RunState::kLost})), IsEmpty());
  EXPECT_THAT(Ids(store_->Runs({.tenant = "none"})), IsEmpty());
}

TEST_F(SqliteServiceStoreTest, RunsComeInPages) {
  for (const char* id : {"a", "b", "c", "d", "e"}) Begin(ARun(id));
  const auto page = store_->Runs({.tenant = "t", .limit = 2}).value();
  ASSERT_EQ(page.size(), 2U);
  EXPECT_EQ(page[1].id, "d");
  EXPECT_THAT(Ids(store_->Runs({.tenant = "t", .before = page[1].sequence, .limit = 2})), ElementsAre("c", "b"));
  EXPECT_THAT(Ids(store_->Runs({.before = page[1].sequence})), ElementsAre("c", "b", "a"));
  EXPECT_EQ(store_->Runs({.before = kHuge, .limit = kHuge})->size(), 5U);
  EXPECT_THAT(Ids(store_->Runs({.limit = 0})), IsEmpty());
}

TEST_F(SqliteServiceStoreTest, TheUnfinishedAreThoseOfEverybodyThatWaitOrRun) {
  for (const char* id : {"done", "lost", "running"}) Begin(ARun(id, "s", id));
  auto waiting = ARun("waiting");
  waiting.state = RunState::kWaiting;
  Begin(waiting);
  ASSERT_TRUE(store_->EndRun("done", {.state = RunState::kDone}, At(1)));
  ASSERT_TRUE(store_->EndRun("lost", {.state = RunState::kLost}, At(1)));
  EXPECT_THAT(Ids(store_->UnfinishedRuns()), ElementsAre("running", "waiting"));
}

TEST_F(SqliteServiceStoreTest, OldRunsAreForgottenWithTheirKeys) {
  Ended("old", 1);
  Ended("at the time", 10);
  Ended("new", 20);
  Ended("old, of a session", 1, "s");
  Begin(ARun("old, not ended"));
  EXPECT_THAT(store_->ForgetRuns(At(10), 100, 100).value(), ElementsAre("old"));
  EXPECT_THAT(Ids(store_->Runs({})), ElementsAre("old, not ended", "old, of a session", "new", "at the time"));
  EXPECT_EQ(store_->FindClaim("t", "key of old").error().code, Code::kNotFound);
  for (const char* id : {"at the time", "new", "old, of a session"})
    EXPECT_TRUE(store_->FindClaim("t", "key of " + std::string(id))) << id;
  EXPECT_THAT(store_->ForgetRuns(At(10), 100, 100).value(), IsEmpty());
}

TEST_F(SqliteServiceStoreTest, OfTheOthersTheNewestAreKept) {
  Begin(ARun("running"));
  Ended("a", 20);
  Ended("b", 21);
  Ended("session", 22, "s");
  Ended("c", 23);
  Ended("old but began late", 1);
  EXPECT_THAT(store_->ForgetRuns(At(10), 2, 100).value(), ElementsAre("old but began late", "a"));
  EXPECT_THAT(Ids(store_->Runs({})), ElementsAre("c", "session", "b", "running"));
  EXPECT_FALSE(store_->FindClaim("t", "key of a"));
  EXPECT_THAT(store_->ForgetRuns(At(10), 0, 100).value(), ElementsAre("b", "c"));
  EXPECT_THAT(Ids(store_->Runs({})), ElementsAre("session", "running"));
}

TEST_F(SqliteServiceStoreTest, AtMostTheLimitIsForgottenAtOnceTheOldestFirst) {
  for (int i = 0; i < 4; ++i) Ended("old" + std::to_string(i), i);
  for (int i = 0; i < 4; ++i) Ended("new" + std::to_string(i), 20 + i);
  EXPECT_THAT(store_->ForgetRuns(At(10), 2, 3).value(), ElementsAre("old0", "old1", "old2"));
  EXPECT_THAT(store_->ForgetRuns(At(10), 2, 2).value(), ElementsAre("old3", "new0"));
  EXPECT_THAT(store_->ForgetRuns(At(10), 2, kHuge).value(), ElementsAre("new1"));
  EXPECT_THAT(store_->ForgetRuns(At(10), 2, 0).value(), IsEmpty());
  EXPECT_THAT(store_->ForgetRuns(At(10), kHuge, kHuge).value(), IsEmpty());
  EXPECT_THAT(Ids(store_->Runs({})), ElementsAre("new3", "new2"));
}

TEST_F(SqliteServiceStoreTest, AKeyIsNewAgainAfterItsRunWasForgotten) {
  Ended("r", 1);
  ASSERT_EQ(store_->ForgetRuns(At(10), 0, 1)->size(), 1U);
  EXPECT_TRUE(store_->BeginRun(ARun("r2"), AClaim("key of r")));
}

TEST_F(SqliteServiceStoreTest, AnApprovalIsDecidedOnce) {
  core::ApprovalRecord asked{.id = "a", .session = "s", .execution = "x", .digest = "d", .asked_at = At(1)};
  ASSERT_TRUE(store_->AddApproval(asked));
  ASSERT_TRUE(store_->AddApproval({.id = "b", .asked_at = At(0)}));
  EXPECT_EQ(store_->AddApproval(asked).error().code, Code::kConflict);
  EXPECT_EQ(store_->DecideApproval(asked).error().code, Code::kInvalidArgument);

  auto decided = asked;
  decided.decision = "approved";
  decided.decided_by = "me";
  decided.decided_from = "uid 1";
  decided.scope = "once";
  decided.reason = "fine";
  decided.decided_at = At(2);
  auto sent = decided;
  sent.digest = "another";  // the question stays as it was asked
  ASSERT_TRUE(store_->DecideApproval(sent));
  sent.decision = "refused";
  EXPECT_EQ(store_->DecideApproval(sent).error().code, Code::kConflict);
  sent.id = "none";
  EXPECT_EQ(store_->DecideApproval(sent).error().code, Code::kNotFound);
  Reopen();
  EXPECT_THAT(Ids(store_->Approvals({})), ElementsAre("b", "a"));
  EXPECT_EQ(store_->Approvals({})->at(1), decided);
  EXPECT_EQ(store_->FindApproval("a").value(), decided);
  EXPECT_EQ(store_->FindApproval("none").error().code, Code::kNotFound);
}

TEST_F(SqliteServiceStoreTest, ApprovalsAreListedByWhoseTheyAreAndPageByPage) {
  for (const auto& [id, tenant, session] :
       {std::tuple{"a", "t", "s"}, {"b", "u", "s"}, {"c", "t", "r"}, {"d", "t", "s"}})
    ASSERT_TRUE(store_->AddApproval({.id = id, .session = session, .tenant = tenant, .asked_at = At(1)}));
  EXPECT_THAT(Ids(store_->Approvals({.tenant = "t"})), ElementsAre("d", "c", "a"));
  EXPECT_THAT(Ids(store_->Approvals({.tenant = "t", .session = "s"})), ElementsAre("d", "a"));
  EXPECT_THAT(Ids(store_->Approvals({.limit = 2})), ElementsAre("d", "c"));
  EXPECT_THAT(Ids(store_->Approvals({.before = "c", .limit = 2})), ElementsAre("b", "a"));
  EXPECT_EQ(store_->Approvals({.before = "none"}).error().code, Code::kNotFound);
}

TEST_F(SqliteServiceStoreTest, WhatWaitsWhenItsDaemonEndsIsCancelled) {
  ASSERT_TRUE(store_->AddApproval({.id = "a", .asked_at = At(1)}));
  ASSERT_TRUE(store_->AddApproval({.id = "b", .asked_at = At(1)}));
  ASSERT_TRUE(store_->DecideApproval({.id = "a", .decision = "approved", .decided_at = At(2)}));
  ASSERT_TRUE(store_->CancelApprovals("gone", At(3)));
  EXPECT_EQ(store_->FindApproval("a")->decision, "approved");
  EXPECT_EQ(store_->FindApproval("b")->decision, "cancelled");
  EXPECT_EQ(store_->FindApproval("b")->reason, "gone");
}

}  // namespace
}  // namespace skerry::store
