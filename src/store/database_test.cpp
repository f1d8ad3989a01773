#include "store/database.hpp"

#include <filesystem>
#include <fstream>
#include <limits>

#include <gtest/gtest.h>

#include "support/temporary_directory.hpp"

namespace skerry::store {
namespace {

class DatabaseTest : public testing::Test {
 protected:
  void SetUp() override {
    std::ofstream file(Path());
    database_ = Connect();
    ASSERT_TRUE(database_->Execute("PRAGMA journal_mode = WAL; CREATE TABLE t(n INTEGER, s TEXT, b BLOB) STRICT"));
  }

  [[nodiscard]] std::string Path() const { return (directory_.path() / "d.db").string(); }
  std::unique_ptr<Database> Connect(std::chrono::milliseconds busy_timeout = std::chrono::seconds(5)) {
    return std::move(Database::Open(Path(), {.busy_timeout = busy_timeout}).value());
  }
  std::int64_t Rows() { return database_->Ask("SELECT count(*) FROM t").value(); }

  support::TemporaryDirectory directory_;
  std::unique_ptr<Database> database_;
};

TEST_F(DatabaseTest, ValuesComeBackWithTheirTypes) {
  const std::string bytes("\0\xFFx", 3);
  auto insert = database_->Prepare("INSERT INTO t VALUES(?, ?, ?)").value();
  ASSERT_TRUE(insert.Number(std::numeric_limits<std::int64_t>::min()).Text(bytes).Bytes(bytes).Run());
  auto select = database_->Prepare("SELECT n, s, b FROM t").value();
  ASSERT_EQ(select.Step().value(), Statement::Row::kThere);
  EXPECT_EQ(select.NextNumber(), std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(select.NextText(), bytes);
  EXPECT_EQ(select.NextText(), bytes);
  EXPECT_EQ(select.Step().value(), Statement::Row::kNoMore);
}

TEST_F(DatabaseTest, NothingIsNotNull) {
  auto insert = database_->Prepare("INSERT INTO t VALUES(NULL, ?, ?)").value();
  ASSERT_TRUE(insert.Text({}).Bytes({}).Run());
  auto select = database_->Prepare("SELECT n, s IS NULL, b IS NULL, typeof(b) FROM t").value();
  ASSERT_TRUE(select.Step());
  EXPECT_EQ(select.NextOptionalNumber(), std::nullopt);
  EXPECT_EQ(select.NextNumber(), 0);
  EXPECT_EQ(select.NextNumber(), 0);
  EXPECT_EQ(select.NextText(), "blob");
}

TEST_F(DatabaseTest, AStatementThatIsInUseIsPreparedOnceMore) {
  ASSERT_TRUE(database_->Execute("INSERT INTO t(n) VALUES(1), (2)"));
  for (int round = 0; round < 2; ++round) {
    auto outer = database_->Prepare("SELECT n FROM t ORDER BY n").value();
    ASSERT_TRUE(outer.Step());
    EXPECT_EQ(database_->Ask("SELECT n FROM t ORDER BY n").value(), 1);
    ASSERT_TRUE(outer.Step());
    EXPECT_EQ(outer.NextNumber(), 2);
  }
}

TEST_F(DatabaseTest, AStatementThatComesBackHasNoParametersLeft) {
  {
    ASSERT_TRUE(database_->Prepare("INSERT INTO t(n) VALUES(?)")->Number(7).Run());
  }
  ASSERT_TRUE(database_->Prepare("INSERT INTO t(n) VALUES(?)")->Run());
  EXPECT_EQ(database_->Ask("SELECT count(*) FROM t WHERE n IS NULL").value(), 1);
}

TEST_F(DatabaseTest, AParameterTooManyIsTold) {
  EXPECT_FALSE(database_->Prepare("INSERT INTO t(n) VALUES(?)")->Number(1).Number(2).Run());
  EXPECT_EQ(Rows(), 0);
}

TEST_F(DatabaseTest, WhatIsNotCommittedIsUndone) {
  {
    auto transaction = Transaction::Begin(*database_).value();
    ASSERT_TRUE(database_->Execute("INSERT INTO t(n) VALUES(1)"));
  }
  EXPECT_EQ(Rows(), 0);
  auto transaction = Transaction::Begin(*database_).value();
  ASSERT_TRUE(database_->Execute("INSERT INTO t(n) VALUES(1)"));
  ASSERT_TRUE(transaction.Commit());
  EXPECT_EQ(Rows(), 1);
}

TEST_F(DatabaseTest, OneWriterAtATimeAndReadersBesides) {
  const auto other = Connect(std::chrono::milliseconds(50));
  auto transaction = Transaction::Begin(*database_).value();
  ASSERT_TRUE(database_->Execute("INSERT INTO t(n) VALUES(1)"));
  EXPECT_EQ(other->Ask("SELECT count(*) FROM t").value(), 0);
  const auto second = Transaction::Begin(*other);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, base::Code::kUnavailable);
  EXPECT_NE(second.error().message.find("50 ms"), std::string::npos) << second.error().message;
}

TEST_F(DatabaseTest, IsDefensive) {
  EXPECT_EQ(database_->Ask("PRAGMA foreign_keys").value(), 1);
  EXPECT_EQ(database_->Ask("PRAGMA trusted_schema").value(), 0);
  EXPECT_EQ(database_->Ask("PRAGMA synchronous").value(), 1);
  EXPECT_EQ(database_->Ask("PRAGMA cell_size_check").value(), 1);
  ASSERT_TRUE(database_->Execute("PRAGMA writable_schema = ON"));
  EXPECT_FALSE(database_->Execute("UPDATE sqlite_schema SET sql = 'x'"));
}

TEST_F(DatabaseTest, AFileThatIsNotThereIsNotMade) {
  const std::string path = (directory_.path() / "none").string();
  EXPECT_FALSE(Database::Open(path, {}));
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST_F(DatabaseTest, ALinkIsNotFollowed) {
  std::filesystem::create_symlink(Path(), directory_.path() / "link");
  EXPECT_FALSE(Database::Open((directory_.path() / "link").string(), {}));
}

}  // namespace
}  // namespace skerry::store
