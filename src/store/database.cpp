#include "store/database.hpp"

#include <thread>
#include <utility>

#include <sqlite3.h>

#include "store/sqlite_error.hpp"

namespace skerry::store {
namespace {

constexpr int kLogPages = 250;  // of 4 KB, until the log is written into the file

struct Setting {
  int name;
  int value;
};

constexpr Setting kSettings[] = {
    {SQLITE_DBCONFIG_DEFENSIVE, 1},
    {SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0},  // a schema that another program wrote calls no functions
    {SQLITE_DBCONFIG_ENABLE_FKEY, 1},
    {SQLITE_DBCONFIG_ENABLE_TRIGGER, 0},
    {SQLITE_DBCONFIG_ENABLE_VIEW, 0},
    // Otherwise the last connection to close would write the log into the file and wait for the disk, after every
    // command. The log is short: reading it again at the next opening is cheaper.
    {SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1},
};

}  // namespace

Database::Database(sqlite3* handle, std::string path, const DatabaseOptions& options)
    : handle_(handle), path_(std::move(path)), options_(options) {}

Database::~Database() {
  for (const auto& [sql, statement] : idle_) sqlite3_finalize(statement);
  sqlite3_close_v2(handle_);
}

base::Result<std::unique_ptr<Database>> Database::Open(const std::string& path, const DatabaseOptions& options) {
  // Without SQLite's own mutex: the owner of the object has a lock.
  constexpr int kFlags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_NOFOLLOW | SQLITE_OPEN_PRIVATECACHE |
                         SQLITE_OPEN_EXRESCODE;
  sqlite3* handle = nullptr;
  const int code = sqlite3_open_v2(path.c_str(), &handle, kFlags, nullptr);
  std::unique_ptr<Database> database(new Database(handle, path, options));
  if (code != SQLITE_OK) return std::unexpected(database->ErrorWith(code));
  // SQLite opens a file that it may not write for reading only, and fails at the first write.
  if (sqlite3_db_readonly(handle, "main") != 0) return std::unexpected(database->ErrorWith(SQLITE_READONLY));
  SKERRY_RETURN_IF_ERROR(database->Configure());
  return database;
}

base::Status Database::Configure() {
  sqlite3_busy_handler(handle_, &Database::WaitForOthers, this);
  for (const Setting& setting : kSettings) {
    const int code = sqlite3_db_config(handle_, setting.name, setting.value, nullptr);
    if (code != SQLITE_OK) return std::unexpected(ErrorWith(code));
  }
  sqlite3_wal_autocheckpoint(handle_, kLogPages);
  // With a log, NORMAL waits for the disk only when the log is written into the file. A log that one large transaction
  // made long is shortened after that.
  return Execute("PRAGMA cell_size_check = ON; PRAGMA synchronous = NORMAL; PRAGMA journal_size_limit = 4194304");
}

int Database::WaitForOthers(void* database, int tries) {
  // SQLite's own handler sleeps up to 100 ms at a time. Skerry's transactions take less than 1 ms, and a thread that
  // sleeps long meets the next one when it wakes.
  constexpr int kShortTries = 50;
  constexpr std::chrono::microseconds kShort(100);
  constexpr std::chrono::microseconds kLong(2000);
  auto& self = *static_cast<Database*>(database);
  if (tries == 0) self.patience_ = base::Deadline::After(self.options_.busy_timeout);
  if (self.patience_.Expired()) return 0;
  std::this_thread::sleep_for(tries < kShortTries ? kShort : kLong);
  return 1;
}

base::Result<Statement> Database::Prepare(std::string_view sql) {
  const std::string key(sql);
  if (const auto found = idle_.find(key); found != idle_.end()) {
    sqlite3_stmt* statement = found->second;
    idle_.erase(found);
    return Statement(*this, statement);
  }
  sqlite3_stmt* statement = nullptr;
  const int code = sqlite3_prepare_v3(handle_, key.c_str(), static_cast<int>(key.size()) + 1, SQLITE_PREPARE_PERSISTENT,
                                      &statement, nullptr);
  if (code != SQLITE_OK) return std::unexpected(ErrorWith(code));
  return Statement(*this, statement);
}

void Database::GiveBack(sqlite3_stmt* statement) {
  if (!idle_.try_emplace(sqlite3_sql(statement), statement).second) sqlite3_finalize(statement);
}

base::Status Database::Execute(const std::string& sql) {
  const int code = sqlite3_exec(handle_, sql.c_str(), nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) return std::unexpected(ErrorWith(code));
  return {};
}

base::Result<std::int64_t> Database::Ask(std::string_view sql) {
  SKERRY_ASSIGN_OR_RETURN(Statement statement, Prepare(sql));
  SKERRY_ASSIGN_OR_RETURN(const Statement::Row row, statement.Step());
  if (row != Statement::Row::kThere) return base::Err(base::Code::kNotFound, "no row for " + std::string(sql));
  return statement.NextNumber();
}

std::int64_t Database::LastInsertedRow() const {
  return sqlite3_last_insert_rowid(handle_);
}

std::int64_t Database::RowsWritten() const {
  return sqlite3_changes64(handle_);
}

bool Database::InTransaction() const {
  return sqlite3_get_autocommit(handle_) == 0;
}

bool Database::WasBusy() const {
  constexpr int kPrimaryCode = 0xFF;
  return (sqlite3_errcode(handle_) & kPrimaryCode) == SQLITE_BUSY;
}

base::Error Database::ErrorWith(int code) const {
  // The connection's last message belongs to this code only if it has the same code.
  const bool knows_more = sqlite3_extended_errcode(handle_) == code;
  const Failure failure{.code = code,
                        .system_errno = knows_more ? sqlite3_system_errno(handle_) : 0,
                        .detail = knows_more ? sqlite3_errmsg(handle_) : sqlite3_errstr(code)};
  return ErrorOf(failure, label_, options_.busy_timeout);
}

base::Result<Transaction> Transaction::Begin(Database& database, Kind kind) {
  SKERRY_ASSIGN_OR_RETURN(Statement begin, database.Prepare(kind == Kind::kRead ? "BEGIN" : "BEGIN IMMEDIATE"));
  SKERRY_RETURN_IF_ERROR(begin.Run());
  return Transaction(database);
}

Transaction::Transaction(Transaction&& other) noexcept : database_(std::exchange(other.database_, nullptr)) {}

Transaction::~Transaction() {
  // After some errors, such as a full disk, SQLite has rolled back by itself.
  if (database_ != nullptr && database_->InTransaction()) (void)database_->Execute("ROLLBACK");
}

base::Status Transaction::Commit() {
  SKERRY_ASSIGN_OR_RETURN(Statement commit, database_->Prepare("COMMIT"));
  SKERRY_RETURN_IF_ERROR(commit.Run());
  database_ = nullptr;
  return {};
}

}  // namespace skerry::store
