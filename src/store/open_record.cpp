#include "store/open_record.hpp"

#include "store/migrations.hpp"
#include "store/record_file.hpp"
#include "store/record_schema.hpp"
#include "store/vacuum.hpp"

namespace skerry::store {

base::Result<std::unique_ptr<Database>> OpenRecord(const std::string& path, const OpenOptions& options) {
  SKERRY_ASSIGN_OR_RETURN(const std::string file, PrepareRecordFile(path));
  SKERRY_ASSIGN_OR_RETURN(auto database, Database::Open(file, {.busy_timeout = options.busy_timeout}));
  SKERRY_RETURN_IF_ERROR(Migrate(*database, RecordMigrations()));
  UseIncrementalVacuum(*database);
  database->LeaveOutPath();
  return database;
}

}  // namespace skerry::store
