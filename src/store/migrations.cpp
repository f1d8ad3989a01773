#include "store/migrations.hpp"

#include <chrono>
#include <string>
#include <thread>

#include "base/deadline.hpp"
#include "base/printable.hpp"

namespace skerry::store {
namespace {

base::Status Refuse(const Database& database, const std::string& why) {
  return base::Err(base::Code::kUnavailable, "the record " + base::Printable(database.path()) + " " + why);
}

// The version of a file that Skerry made and that is not newer than this program. Called in a transaction: another
// process may be migrating the file.
base::Result<std::size_t> KnownVersion(Database& database, std::size_t newest) {
  SKERRY_ASSIGN_OR_RETURN(const std::int64_t application, database.Ask("PRAGMA application_id"));
  SKERRY_ASSIGN_OR_RETURN(const std::int64_t version, database.Ask("PRAGMA user_version"));
  bool ours = application == kApplicationId && version > 0;
  if (application == 0 && version == 0) {
    SKERRY_ASSIGN_OR_RETURN(const std::int64_t tables, database.Ask("SELECT count(*) FROM sqlite_schema"));
    ours = tables == 0;
  }
  if (!ours) {
    SKERRY_RETURN_IF_ERROR(Refuse(database, "was not made by Skerry; move it away or name another one"));
  }
  if (version > static_cast<std::int64_t>(newest)) {
    SKERRY_RETURN_IF_ERROR(Refuse(database, "was made by a newer Skerry (version " + std::to_string(version) +
                                                ", this one knows " + std::to_string(newest) + "); use that one"));
  }
  return static_cast<std::size_t>(version);
}

// With a log, readers and a writer do not wait for each other. Changing to the log fails at once, without the usual
// waiting, when another process does the same.
base::Status UseLog(Database& database) {
  const auto deadline = base::Deadline::After(database.busy_timeout());
  while (true) {
    auto status = database.Execute("PRAGMA journal_mode = WAL");
    if (status || !database.WasBusy() || deadline.Expired()) return status;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
}

base::Result<std::size_t> VersionNow(Database& database, std::size_t newest) {
  SKERRY_ASSIGN_OR_RETURN(const Transaction transaction, Transaction::Begin(database, Transaction::Kind::kRead));
  return KnownVersion(database, newest);
}

// Takes one step, unless another process was faster. Gives the version after it.
base::Result<std::size_t> TakeStep(Database& database, Migrations migrations) {
  SKERRY_ASSIGN_OR_RETURN(Transaction transaction, Transaction::Begin(database));
  SKERRY_ASSIGN_OR_RETURN(const std::size_t version, KnownVersion(database, migrations.size()));
  if (version == migrations.size()) return version;
  SKERRY_RETURN_IF_ERROR(database.Execute(std::string(migrations[version])));
  SKERRY_RETURN_IF_ERROR(database.Execute("PRAGMA application_id = " + std::to_string(kApplicationId)));
  SKERRY_RETURN_IF_ERROR(database.Execute("PRAGMA user_version = " + std::to_string(version + 1)));
  SKERRY_RETURN_IF_ERROR(transaction.Commit());
  return version + 1;
}

}  // namespace

base::Status Migrate(Database& database, Migrations migrations) {
  SKERRY_ASSIGN_OR_RETURN(std::size_t version, VersionNow(database, migrations.size()));
  if (version == 0 && !migrations.empty()) {
    // Has to be set before the file has any content.
    SKERRY_RETURN_IF_ERROR(database.Execute("PRAGMA auto_vacuum = INCREMENTAL"));
    SKERRY_RETURN_IF_ERROR(UseLog(database));
  }
  while (version < migrations.size()) {
    SKERRY_ASSIGN_OR_RETURN(version, TakeStep(database, migrations));
  }
  return {};
}

}  // namespace skerry::store
