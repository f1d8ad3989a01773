#include "store/vacuum.hpp"

#include <filesystem>
#include <fstream>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "store/forget_piece.hpp"
#include "store/migrations.hpp"
#include "store/record_schema.hpp"
#include "store/service_fixture.hpp"

namespace skerry::store {
namespace {

class VacuumTest : public ServiceTest {
 protected:
  [[nodiscard]] std::uintmax_t Size() const { return std::filesystem::file_size(Path()); }
  std::unique_ptr<Database> Connect() { return std::move(Database::Open(Path(), {}).value()); }
  void WriteIntoFile() { ASSERT_TRUE(Connect()->Execute("PRAGMA wal_checkpoint(TRUNCATE)")); }

  // A file of version 3, from before there were summaries, which cannot be made shorter.
  void MakeOldFile() {
    std::ofstream(Path()).close();
    std::filesystem::permissions(Path(), std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
    const auto database = Connect();
    ASSERT_TRUE(database->Execute("PRAGMA journal_mode = WAL"));
    for (const std::string_view step : RecordMigrations().first(3)) ASSERT_TRUE(database->Execute(std::string(step)));
    ASSERT_TRUE(database->Execute("PRAGMA application_id = " + std::to_string(kApplicationId)));
    ASSERT_TRUE(database->Execute("PRAGMA user_version = 3"));
    ASSERT_TRUE(database->Execute(
        "INSERT INTO hosted_sessions(id, tenant, settings, created_at, in_use) VALUES('s', 'a', '{}', 1, 0);"
        "INSERT INTO sessions(id, created_by, created_at, used_at) VALUES('s', 'me', 1, 1);"
        "INSERT INTO sessions(id, created_by, created_at, used_at, deleted_at) VALUES('old', 'me', 1, 1, 2);"
        "INSERT INTO executions(id, session, kind, language, asked_by, sandbox, risk, approval, timeout_seconds, "
        "memory_mb, started_at, what_bytes, what_sha256, what) "
        "VALUES('e', 1, 'run', 'shell', 'me', '', '', '', 1, 1, 1, 4, '', CAST('true' AS BLOB));"
        "INSERT INTO file_versions(session, execution, path, action, kind, size, mode, sha256) "
        "VALUES(1, 1, CAST('f' AS BLOB), 'created', 'file', 1, 420, 'aa');"
        "INSERT INTO runs(id, session, tenant, kind, language, state, created_at, ended_at, what, result) VALUES"
        "('small', '', 'a', 'execute', 'shell', 'done', 1, 2, 'w', '{\"outcome\": \"exited\"}'),"
        "('broken', '', 'a', 'execute', 'shell', 'done', 1, 2, 'w', printf('%.*c', 5000, 'x'));"
        "INSERT INTO runs(id, session, tenant, kind, language, state, created_at, ended_at, what, result) "
        "SELECT 'large', '', 'b', 'execute', 'shell', 'done', 1, 2, 'w', json_object('outcome', 'exited', 'stdout', "
        "printf('%.*c', 5000, 'x'), 'files_created', json_array(printf('%.*c', 90000, 'n'), 'second'), "
        "'files_to_review', json_array(json_object('path', "
        "printf('%.*c', 5000, 'n'), 'reason', 'r')))"));
  }
};

TEST_F(VacuumTest, RoomThatIsNotUsedGoesBackToTheDisk) {
  const auto store = OpenService();
  for (int i = 0; i < 20; ++i) {
    const std::string id = "r" + std::to_string(i);
    ASSERT_TRUE(store->BeginRun(ARun(id), std::nullopt));
    ASSERT_TRUE(store->EndRun(id, {.result = {.diff = std::string(1 << 20U, 'r')}}, At(1)));
  }
  WriteIntoFile();
  const auto full = Size();
  ASSERT_GT(full, 20U << 20U);
  EXPECT_EQ(store->ForgetRuns(At(5), 0, 1000)->size(), 20U);
  int pieces = 0;
  while (store->Shrink().value() && pieces < 1000) ++pieces;
  WriteIntoFile();
  EXPECT_LT(Size(), 3U << 20U);
  EXPECT_GT(pieces, 1);
}

TEST_F(VacuumTest, AnOldFileLosesNothingAndCanBeMadeShorter) {
  MakeOldFile();
  const auto record = Open();
  const auto store = OpenService();
  EXPECT_EQ(Connect()->Ask("PRAGMA auto_vacuum").value(), 2);
  EXPECT_TRUE(record->Check());
  EXPECT_EQ(record->FindSession("s")->tenant, "a");
  EXPECT_EQ(record->FindSession("old")->tenant, "");
  EXPECT_EQ(record->ChangesOf("e").value().size(), 1U);
  EXPECT_EQ(record->FindExecution("e")->what, "true");
  EXPECT_EQ(store->Hosted()->size(), 1U);
  // Whole results stay; lists have their summaries.
  EXPECT_EQ(store->FindRun("large")->end->result.files_created.size(), 2U);
  const auto runs = store->Runs({}).value();
  ASSERT_EQ(runs.size(), 3U);
  EXPECT_EQ(runs[0].id, "large");
  const core::ExecutionResult& large = runs[0].end->result;
  EXPECT_EQ(large.files_total->created, 2U);
  EXPECT_EQ(large.files_total->to_review, 1U);
  EXPECT_TRUE(large.files_created.empty());
  EXPECT_EQ(runs[1].end, core::RunEnd{.state = runs[1].state});
  EXPECT_EQ(runs[2].end->Outcome(), "exited");
  // What everything takes is known.
  EXPECT_GT(store->BytesByTenant()->at("b"), 95'000U);
  EXPECT_GT(record->BytesByTenant()->at("a"), 600U);
}

TEST_F(VacuumTest, AFileThatIsUsedElsewhereIsOpenedAllTheSame) {
  MakeOldFile();
  const auto other = Connect();
  ASSERT_TRUE(other->Execute("BEGIN; SELECT count(*) FROM runs"));
  const auto store = OpenService();
  EXPECT_EQ(store->Runs({})->size(), 3U);
}

TEST_F(VacuumTest, ALargeHistoryGoesInPieces) {
  const auto record = Open();
  ASSERT_TRUE(record->AddSession({.id = "s", .tenant = "a"}));
  std::vector<core::FileChange> changes;
  for (int at = 0; at < 5000; ++at) changes.push_back(AChange("f" + std::to_string(at)));
  ASSERT_TRUE(Record(*record, AnExecution("e", "s"), AnEnd(std::move(changes))));
  const auto other = Connect();
  const auto rows = [&] { return *other->Ask("SELECT count(*) FROM file_versions"); };
  EXPECT_TRUE(ForgetPiece(*other, 1).value());
  EXPECT_EQ(rows(), 5000 - kForgottenAtOnce);
  ASSERT_TRUE(record->EndSession("s", At(1)));
  EXPECT_GT(record->ForgetDeleted("a", 1).value(), 0U);
  EXPECT_EQ(rows(), 0);
  EXPECT_EQ(record->FindSession("s").error().code, base::Code::kNotFound);
  EXPECT_FALSE(ForgetPiece(*other, 1).value());
  EXPECT_TRUE(record->Check());
}

TEST_F(VacuumTest, OldHistoryOfDeletedSessionsGoesFirst) {
  const auto record = Open();
  for (const char* id : {"one", "two", "three"}) {
    ASSERT_TRUE(record->AddSession({.id = id, .tenant = "a"}));
    ASSERT_TRUE(Record(*record, AnExecution(std::string("e") + id, id), AnEnd({AChange(std::string(4000, 'p'))})));
  }
  ASSERT_TRUE(record->AddSession({.id = "other", .tenant = "b"}));
  const std::uint64_t used = record->BytesByTenant()->at("a");
  EXPECT_GT(used, 24'000U);
  EXPECT_EQ(record->ForgetDeleted("a", 1).value(), 0U);
  for (const char* id : {"two", "one", "other"}) ASSERT_TRUE(record->EndSession(id, At(1)));
  EXPECT_GT(record->ForgetDeleted("a", 100).value(), 8000U);
  EXPECT_EQ(record->FindSession("one").error().code, base::Code::kNotFound);
  EXPECT_TRUE(record->FindSession("two"));
  EXPECT_GT(record->ForgetDeleted("a", 1'000'000).value(), 8000U);
  EXPECT_EQ(record->FindSession("two").error().code, base::Code::kNotFound);
  EXPECT_TRUE(record->FindSession("three"));
  EXPECT_TRUE(record->FindSession("other"));
  EXPECT_LT(record->BytesByTenant()->at("a"), used / 2);
  EXPECT_TRUE(record->Check());
}

TEST_F(VacuumTest, TheOldestRunsOfATenantGoFirstAndNoneThatRuns) {
  const auto store = OpenService();
  for (const char* id : {"a1", "a2", "a3"}) {
    ASSERT_TRUE(store->BeginRun(ARun(id, "", "a"), AClaim(id, "a")));
    if (std::string(id) != "a1") ASSERT_TRUE(store->EndRun(id, {.result = {.diff = std::string(1000, 'r')}}, At(1)));
  }
  ASSERT_TRUE(store->BeginRun(ARun("b1", "", "b"), std::nullopt));
  ASSERT_TRUE(store->EndRun("b1", {}, At(1)));
  const auto forgotten = store->ForgetRunsOf("a", 1000, 100).value();
  EXPECT_THAT(forgotten.ids, testing::ElementsAre("a2"));
  EXPECT_GE(forgotten.bytes, 1000U);
  EXPECT_EQ(store->FindClaim("a", "a2").error().code, base::Code::kNotFound);
  EXPECT_THAT(store->ForgetRunsOf("a", 1'000'000, 100)->ids, testing::ElementsAre("a3"));
  EXPECT_EQ(store->RunOwners()->size(), 2U);
}

TEST_F(VacuumTest, OldAnswersGoAndQuestionsStay) {
  const auto store = OpenService();
  for (int i = 0; i < 10; ++i)
    ASSERT_TRUE(store->AddApproval({.id = std::to_string(i), .tenant = "a", .decision = i == 2 ? "" : "approved"}));
  ASSERT_TRUE(store->AddApproval({.id = "b", .tenant = "b", .decision = "approved"}));
  ASSERT_TRUE(store->ForgetApprovals(3));
  std::vector<std::string> left;
  for (const auto& approval : store->Approvals({}).value()) left.push_back(approval.id);
  EXPECT_THAT(left, testing::ElementsAre("b", "9", "8", "7", "2"));
}

TEST_F(VacuumTest, AnErrorSaysNothingOfWhereTheFileLies) {
  const auto store = OpenService();
  ASSERT_TRUE(Connect()->Execute("DROP TABLE runs"));
  const auto failed = store->FindRun("x");
  ASSERT_FALSE(failed);
  EXPECT_THAT(failed.error().message, testing::Not(testing::HasSubstr(directory_.string())));
}

TEST_F(VacuumTest, FilesToKnowOfComeInParts) {
  using About = core::FileNotice::About;
  const auto record = Open();
  ASSERT_TRUE(record->AddSession({.id = "s", .tenant = "a"}));
  const std::uint64_t before = record->BytesByTenant()->at("a");
  auto end = AnEnd({});
  for (int i = 0; i < 600; ++i)
    end.notices.push_back({std::to_string(i) + std::string(4000, 'p'), About::kToReview, "agents follow it"});
  end.notices.push_back({".bashrc", About::kWithheld, "is run by itself"});
  ASSERT_TRUE(Record(*record, AnExecution("e"), end));
  EXPECT_GT(record->BytesByTenant()->at("a") - before, 600U * 4000);
  std::vector<core::FileNotice> all;
  std::uint64_t after = 0;
  do {
    const auto page = record->PageOfNotices("e", About::kToReview, after, 1000).value();
    EXPECT_LT(page.notices.size(), 300U);  // about a megabyte of names
    std::ranges::copy(page.notices, std::back_inserter(all));
    after = page.next;
  } while (after != 0);
  EXPECT_EQ(all, std::vector(end.notices.begin(), end.notices.end() - 1));
  const auto withheld = record->PageOfNotices("e", About::kWithheld, 0, 10).value();
  EXPECT_EQ(withheld.notices, std::vector{end.notices.back()});
  EXPECT_EQ(withheld.next, 0U);
  // Notices are removed with their session.
  ASSERT_TRUE(record->EndSession("s", At(1)));
  ASSERT_TRUE(record->ForgetDeleted("a", 1));
  EXPECT_EQ(Connect()->Ask("SELECT count(*) FROM file_notices").value(), 0);
}

TEST_F(VacuumTest, MoreFilesThanCanBeComparedAreRefused) {
  const auto record = Open();
  ASSERT_TRUE(record->AddSession({.id = "s"}));
  for (int run = 0; run < 2; ++run) {
    std::vector<core::FileChange> changes;
    for (int i = 0; i < 9000; ++i)
      changes.push_back(AChange(std::to_string(run) + "/" + std::to_string(i) + std::string(4000, 'p')));
    ASSERT_TRUE(Record(*record, AnExecution("e" + std::to_string(run)), AnEnd(changes)));
    EXPECT_EQ(record->CurrentFiles("s").has_value(), run == 0);
  }
  EXPECT_EQ(record->CurrentFiles("s").error().code, base::Code::kTooLarge);
}

TEST_F(VacuumTest, LongListsOfChangesComeInParts) {
  const auto record = Open();
  ASSERT_TRUE(record->AddSession({.id = "s"}));
  std::vector<core::FileChange> changes;
  for (int i = 0; i < 2000; ++i) changes.push_back(AChange(std::to_string(i) + std::string(4000, 'p')));
  auto end = AnEnd(changes);
  end.left_out = 7;
  ASSERT_TRUE(Record(*record, AnExecution("e"), end));
  std::vector<core::FileChange> all;
  std::uint64_t after = 0;
  do {
    const auto page = record->PageOfChanges("e", after, 1000).value();
    EXPECT_LT(page.changes.size(), 300U);  // about a megabyte of names
    std::ranges::copy(page.changes, std::back_inserter(all));
    after = page.next;
  } while (after != 0);
  EXPECT_EQ(all, changes);
  EXPECT_EQ(record->CountChanges("e").value(), 2000U);
  EXPECT_EQ(record->PageOfChanges("e", 0, 5)->changes.size(), 5U);
  EXPECT_EQ(record->FindExecution("e")->left_out, 7U);
  EXPECT_EQ(record->LeftOut("s").value(), 7U);
}

}  // namespace
}  // namespace skerry::store
