// The errors of a record that cannot be used.
#include <sched.h>
#include <sys/mount.h>

#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "store/migrations.hpp"
#include "store/record_fixture.hpp"
#include "store/sqlite_record_store.hpp"

namespace skerry::store {
namespace {

using testing::HasSubstr;

class RecordDamageTest : public RecordTest {
 protected:
  // A record of several pages, all of it in the file itself and not in the log.
  void Fill() {
    auto store = Open();
    ASSERT_TRUE(store->AddSession({.id = "s"}));
    for (int i = 0; i < 20; ++i) {
      std::vector<core::FileChange> changes;
      changes.reserve(50);
      for (int k = 0; k < 50; ++k) changes.push_back(AChange("file-" + std::to_string(i * 50 + k)));
      ASSERT_TRUE(Record(*store, AnExecution("e" + std::to_string(i)), AnEnd(changes)));
    }
    store.reset();
    Sql("PRAGMA wal_checkpoint(TRUNCATE)");
  }

  void Sql(const std::string& sql) {
    const auto database = Database::Open(Path(), {}).value();
    const auto status = database->Execute(sql);
    ASSERT_TRUE(status) << status.error().message;
  }

  void Overwrite(std::uintmax_t at, std::size_t size) {
    std::fstream file(Path(), std::ios::binary | std::ios::in | std::ios::out);
    file.seekp(static_cast<std::streamoff>(at));
    file << std::string(size, '\xA5');
  }

  // Reads everything that can be read. Gives the first error.
  base::Status ReadAll(SqliteRecordStore& store) {
    SKERRY_RETURN_IF_ERROR(store.Sessions(core::RecordStore::Which::kAll));
    SKERRY_ASSIGN_OR_RETURN(const auto executions, store.Executions("s", 0, 1000));
    for (const auto& execution : executions) SKERRY_RETURN_IF_ERROR(store.ChangesOf(execution.id));
    SKERRY_RETURN_IF_ERROR(store.CurrentFiles("s"));
    return {};
  }
};

constexpr const char* kDamaged = "is damaged (";
constexpr const char* kAdvice = "; move it away and Skerry starts a new one";

TEST_F(RecordDamageTest, AHeaderThatIsNoneIsTold) {
  Fill();
  Overwrite(0, 100);
  EXPECT_THAT(OpenError(), testing::AllOf(HasSubstr(Path()), HasSubstr(kDamaged), HasSubstr(kAdvice)));
}

TEST_F(RecordDamageTest, AFileOfSomethingElseIsTold) {
  std::ofstream(Path()) << std::string(5000, 'x');
  EXPECT_THAT(OpenError(), HasSubstr(kDamaged));
}

TEST_F(RecordDamageTest, PagesInTheMiddleThatAreBrokenAreToldOnUse) {
  Fill();
  const auto size = std::filesystem::file_size(Path());
  ASSERT_GT(size, 100'000U);
  Overwrite(size / 4 * 3, size / 5);  // behind the schema
  const auto store = Open();
  const auto read = ReadAll(*store);
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code, base::Code::kUnavailable);
  EXPECT_THAT(read.error().message, testing::AllOf(HasSubstr(kDamaged), HasSubstr(kAdvice)));
  const auto check = store->Check();
  ASSERT_FALSE(check);
  EXPECT_THAT(check.error().message, HasSubstr(kDamaged));
}

TEST_F(RecordDamageTest, EachBrokenPageIsAnErrorOrHarmlessAndNeverMore) {
  Fill();
  const std::string whole = Path() + ".whole";
  std::filesystem::copy_file(Path(), whole);
  constexpr std::uintmax_t kPage = 4096;
  int found = 0;
  for (std::uintmax_t at = kPage; at < std::filesystem::file_size(whole); at += kPage) {
    std::filesystem::copy_file(whole, Path(), std::filesystem::copy_options::overwrite_existing);
    Overwrite(at, kPage);
    const auto store = SqliteRecordStore::Open(Path(), {});
    if (!store || !(*store)->Check()) ++found;
    if (store) (void)ReadAll(**store);
    if (store) (void)Record(**store, AnExecution("new"), AnEnd({AChange("new")}));
  }
  EXPECT_GT(found, 10);
}

TEST_F(RecordDamageTest, AFileThatWasCutIsTold) {
  Fill();
  std::filesystem::resize_file(Path(), std::filesystem::file_size(Path()) / 2 / 4096 * 4096);
  const auto store = SqliteRecordStore::Open(Path(), {});
  const auto status = store ? ReadAll(**store) : base::Status(std::unexpected(store.error()));
  ASSERT_FALSE(status);
  EXPECT_THAT(status.error().message, HasSubstr(kDamaged));
}

TEST_F(RecordDamageTest, MovedAwayANewOneIsStarted) {
  Fill();
  Overwrite(0, 100);
  ASSERT_NE(OpenError(), "");
  std::filesystem::rename(Path(), Path() + ".old");
  const auto store = Open();
  EXPECT_TRUE(store->AddSession({.id = "s"}));
  EXPECT_TRUE(store->Check());
}

TEST_F(RecordDamageTest, ANameThatIsNoneOfOursIsTold) {
  Fill();
  Sql("PRAGMA ignore_check_constraints = ON; UPDATE executions SET state = 'odd' WHERE id = 'e3'");
  const auto found = Open()->FindExecution("e3");
  ASSERT_FALSE(found);
  EXPECT_THAT(found.error().message, HasSubstr("is damaged (it says 'odd')"));
}

TEST_F(RecordDamageTest, ARowThatBelongsToNothingIsFoundByTheCheck) {
  Fill();
  Sql("PRAGMA foreign_keys = OFF; DELETE FROM executions WHERE id = 'e3'");
  const auto check = Open()->Check();
  ASSERT_FALSE(check);
  EXPECT_THAT(check.error().message, HasSubstr("a row of file_versions belongs to nothing"));
}

TEST_F(RecordDamageTest, AMissingTableIsTold) {
  Fill();
  Sql("DROP TABLE file_uses");
  EXPECT_THAT(Open()->UsesOf("e1").error().message, HasSubstr(kDamaged));
}

TEST_F(RecordDamageTest, ANewerRecordIsRefused) {
  Fill();
  Sql("PRAGMA user_version = 99");
  EXPECT_THAT(OpenError(), HasSubstr("newer Skerry (version 99"));
}

TEST_F(RecordDamageTest, ALockThatStaysIsToldAndReadingGoesOn) {
  Fill();
  const auto other = Database::Open(Path(), {}).value();
  const auto transaction = Transaction::Begin(*other).value();
  const auto store = Open(std::chrono::milliseconds(50));
  const auto status = store->TouchSession("s", At(1));
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, base::Code::kUnavailable);
  EXPECT_THAT(status.error().message, HasSubstr("has been locked by another process for 50 ms"));
  EXPECT_EQ(store->BeginExecution(AnExecution("new")).error().code, base::Code::kUnavailable);
  EXPECT_TRUE(store->FindExecution("e1"));
}

TEST_F(RecordDamageTest, AFullDiskIsToldAndNothingOfTheChangeIsThere) {
  constexpr int kNotPossible = 77;
  const pid_t child = StartChild([this] {
    const auto small = directory_ / "small";
    std::filesystem::create_directory(small);
    // In a mount namespace that ends with the process.
    if (::unshare(CLONE_NEWNS) != 0 || ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
        ::mount("none", small.c_str(), "tmpfs", 0, "size=1m,mode=0700") != 0)
      ::_exit(kNotPossible);
    const auto store = std::move(SqliteRecordStore::Open((small / "r").string(), {}).value());
    if (!Expect(store->AddSession({.id = "s"}).has_value(), "no session")) return false;
    auto execution = AnExecution("e1");
    (void)store->BeginExecution(execution);
    std::vector<core::FileChange> changes;
    changes.reserve(20'000);
    for (int i = 0; i < 20'000; ++i) changes.push_back(AChange("file-" + std::to_string(i)));
    const auto status = store->EndExecution("e1", AnEnd(changes));
    if (!Expect(!status, "all fits")) return false;
    if (!Expect(status.error().message.ends_with("free some space"), status.error().message)) return false;
    const auto found = store->FindExecution("e1");
    return Expect(found && found->state == core::ExecutionState::kRunning, "half an end") &&
           Expect(store->EndExecution("e1", AnEnd()).has_value(), "not usable afterwards");
  });
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status));
  if (WEXITSTATUS(status) == kNotPossible) GTEST_SKIP() << "needs the right to mount";
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

}  // namespace
}  // namespace skerry::store
