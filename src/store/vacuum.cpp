#include "store/vacuum.hpp"

namespace skerry::store {
namespace {

constexpr std::int64_t kIncremental = 2;
constexpr std::int64_t kWorthIt = 256;  // pages of 4 KB
constexpr std::int64_t kPiece = 1024;   // pages: a writer waits no longer than for one piece

}  // namespace

void UseIncrementalVacuum(Database& database) {
  const auto now = database.Ask("PRAGMA auto_vacuum");
  if (!now || *now == kIncremental) return;
  (void)database.Execute("PRAGMA auto_vacuum = INCREMENTAL; VACUUM");
}

base::Result<bool> GiveBackPages(Database& database) {
  SKERRY_ASSIGN_OR_RETURN(const std::int64_t unused, database.Ask("PRAGMA freelist_count"));
  if (unused < kWorthIt) return false;
  SKERRY_RETURN_IF_ERROR(database.Execute("PRAGMA incremental_vacuum(" + std::to_string(kPiece) + ")"));
  SKERRY_ASSIGN_OR_RETURN(const std::int64_t left, database.Ask("PRAGMA freelist_count"));
  return left < unused && left >= kWorthIt;
}

}  // namespace skerry::store
