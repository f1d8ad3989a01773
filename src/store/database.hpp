// One connection to an SQLite file.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/deadline.hpp"
#include "base/result.hpp"
#include "store/statement.hpp"

struct sqlite3;

namespace skerry::store {

struct DatabaseOptions {
  std::chrono::milliseconds busy_timeout{5000};  // how long to wait for the locks of other connections
};

// Of one thread at a time, and of one process: a Database must not be used after a fork.
class Database {
 public:
  // The file must be there; it may be empty. `path` is absolute and has no symbolic link in it. Nothing is
  // written yet.
  static base::Result<std::unique_ptr<Database>> Open(const std::string& path, const DatabaseOptions& options);
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;
  ~Database();

  // The compiled statement of `sql`, which is one statement. It is compiled once and kept for the next call.
  base::Result<Statement> Prepare(std::string_view sql);
  // Runs any number of statements, without their rows.
  base::Status Execute(const std::string& sql);
  // Runs a statement that gives one number in one row.
  base::Result<std::int64_t> Ask(std::string_view sql);

  [[nodiscard]] std::int64_t LastInsertedRow() const;
  // How many rows the last statement wrote, without those that triggers wrote.
  [[nodiscard]] std::int64_t RowsWritten() const;
  [[nodiscard]] const std::string& path() const { return path_; }
  // How errors call the file: by its path, or not at all after LeaveOutPath.
  [[nodiscard]] const std::string& label() const { return label_; }
  void LeaveOutPath() { label_.clear(); }
  [[nodiscard]] std::chrono::milliseconds busy_timeout() const { return options_.busy_timeout; }

  // Whether the last failure was a lock of another connection.
  [[nodiscard]] bool WasBusy() const;
  // The error of a code, with what the connection knows about it.
  [[nodiscard]] base::Error ErrorWith(int code) const;

 private:
  friend class Statement;
  friend class Transaction;
  Database(sqlite3* handle, std::string path, const DatabaseOptions& options);
  base::Status Configure();
  // Called by SQLite when it found a lock of another connection for the `tries` + 1st time. 0 gives up.
  static int WaitForOthers(void* database, int tries);
  void GiveBack(sqlite3_stmt* statement);
  [[nodiscard]] bool InTransaction() const;

  sqlite3* handle_;
  std::string path_;
  std::string label_ = path_;
  DatabaseOptions options_;
  base::Deadline patience_ = base::Deadline::After(std::chrono::seconds(0));  // of the statement that waits
  std::unordered_map<std::string, sqlite3_stmt*> idle_;                       // by their text
};

// The destructor undoes what was not committed.
class Transaction {
 public:
  enum class Kind {
    kRead,   // sees one state of the file, whatever other connections write
    kWrite,  // from the beginning: other connections may read, none may write
  };
  static base::Result<Transaction> Begin(Database& database, Kind kind = Kind::kWrite);
  Transaction(Transaction&& other) noexcept;
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;
  Transaction& operator=(Transaction&&) = delete;
  ~Transaction();

  base::Status Commit();

 private:
  explicit Transaction(Database& database) : database_(&database) {}

  Database* database_;
};

}  // namespace skerry::store
