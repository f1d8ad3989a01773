#include "store/migrations.hpp"

#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "store/record_fixture.hpp"
#include "store/record_schema.hpp"
#include "support/temporary_directory.hpp"

namespace skerry::store {
namespace {

using testing::HasSubstr;

constexpr std::array<std::string_view, 3> kSteps = {
    "CREATE TABLE a(n INTEGER) STRICT; INSERT INTO a VALUES(1)",
    "ALTER TABLE a ADD COLUMN m INTEGER NOT NULL DEFAULT 5",
    "CREATE TABLE b(n INTEGER) STRICT; INSERT INTO b SELECT n + m FROM a",
};

class MigrationsTest : public testing::Test {
 protected:
  void SetUp() override { std::ofstream file(Path()); }

  [[nodiscard]] std::string Path() const { return (directory_.path() / "d.db").string(); }
  std::unique_ptr<Database> Connect() {
    return std::move(Database::Open(Path(), {.busy_timeout = std::chrono::seconds(20)}).value());
  }
  std::string Bytes() {
    std::ifstream file(Path(), std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  support::TemporaryDirectory directory_;
};

TEST_F(MigrationsTest, AnEmptyFileGoesAllTheWay) {
  const auto database = Connect();
  ASSERT_TRUE(Migrate(*database, kSteps));
  EXPECT_EQ(database->Ask("SELECT n FROM b").value(), 6);
  EXPECT_EQ(database->Ask("PRAGMA user_version").value(), 3);
  EXPECT_EQ(database->Ask("PRAGMA application_id").value(), kApplicationId);
  EXPECT_EQ(database->Ask("SELECT (SELECT journal_mode FROM pragma_journal_mode) = 'wal'").value(), 1);
}

TEST_F(MigrationsTest, AnOlderFileKeepsWhatItHas) {
  {
    const auto database = Connect();
    ASSERT_TRUE(Migrate(*database, Migrations(kSteps).first(1)));
    ASSERT_TRUE(database->Execute("UPDATE a SET n = 10"));
  }
  const auto database = Connect();
  ASSERT_TRUE(Migrate(*database, kSteps));
  EXPECT_EQ(database->Ask("SELECT n FROM b").value(), 15);
}

TEST_F(MigrationsTest, TheSecondTimeNothingIsDone) {
  const auto database = Connect();
  ASSERT_TRUE(Migrate(*database, kSteps));
  ASSERT_TRUE(Migrate(*database, kSteps));
  EXPECT_EQ(database->Ask("SELECT count(*) FROM a").value(), 1);
}

TEST_F(MigrationsTest, AStepThatFailsLeavesTheVersionBeforeIt) {
  constexpr std::array<std::string_view, 2> kBroken = {kSteps[0], "UPDATE a SET n = 7; SELECT * FROM nothing"};
  const auto database = Connect();
  EXPECT_FALSE(Migrate(*database, kBroken));
  EXPECT_EQ(database->Ask("PRAGMA user_version").value(), 1);
  EXPECT_EQ(database->Ask("SELECT n FROM a").value(), 1);
  EXPECT_TRUE(Migrate(*database, kSteps));
}

TEST_F(MigrationsTest, ANewerFileIsRefusedAndNotTouched) {
  {
    const auto database = Connect();
    ASSERT_TRUE(Migrate(*database, kSteps));
    ASSERT_TRUE(database->Execute("PRAGMA wal_checkpoint(TRUNCATE)"));
  }
  const std::string before = Bytes();
  const auto status = Migrate(*Connect(), Migrations(kSteps).first(2));
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, base::Code::kUnavailable);
  EXPECT_THAT(status.error().message, HasSubstr("was made by a newer Skerry (version 3, this one knows 2)"));
  EXPECT_EQ(Bytes(), before);
}

TEST_F(MigrationsTest, AFileOfSomebodyElseIsRefusedAndNotTouched) {
  for (const char* sql : {"CREATE TABLE theirs(n)", "PRAGMA application_id = 77", "PRAGMA user_version = 1"}) {
    std::filesystem::remove(Path());
    SetUp();
    ASSERT_TRUE(Connect()->Execute(sql));
    const std::string before = Bytes();
    const auto status = Migrate(*Connect(), kSteps);
    ASSERT_FALSE(status) << sql;
    EXPECT_THAT(status.error().message, HasSubstr("was not made by Skerry")) << sql;
    EXPECT_EQ(Bytes(), before) << sql;
  }
}

TEST_F(MigrationsTest, ProcessesThatOpenANewFileAtOnceAllSucceed) {
  for (int round = 0; round < 10; ++round) {
    for (const char* suffix : {"", "-wal", "-shm"}) std::filesystem::remove(Path() + suffix);
    SetUp();
    std::array<pid_t, 4> children{};
    for (pid_t& child : children)
      child = StartChild([this] {
        const auto status = Migrate(*Connect(), kSteps);
        return Expect(status.has_value(), status ? "" : status.error().message);
      });
    for (const pid_t child : children) EXPECT_TRUE(EndedWell(child));
    EXPECT_EQ(Connect()->Ask("SELECT count(*) FROM b").value(), 1);
  }
}

TEST_F(MigrationsTest, TheRecordHasASchema) {
  const auto database = Connect();
  ASSERT_TRUE(Migrate(*database, RecordMigrations()));
  EXPECT_EQ(
      database
          ->Ask("SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name IN ('sessions', "
                "'executions', 'causes', 'file_versions', 'file_uses', 'tokens', 'hosted_sessions', 'runs', 'claims', "
                "'approvals', 'summaries', 'file_notices')")
          .value(),
      12);
}

}  // namespace
}  // namespace skerry::store
