// Records to parameters of statements, and rows to records.
#pragma once

#include <string>
#include <vector>

#include "core/record.hpp"
#include "store/database.hpp"

namespace skerry::store {

// At most `size` bytes from the beginning of `text`, without half a character at the end.
std::string_view Beginning(std::string_view text, std::size_t size);

// Add parameters in the order of their table's columns; what is borrowed must outlive the statement's run.
void BindChange(Statement& statement, const core::FileChange& change);
void BindUse(Statement& statement, const core::FileUse& use);

// What follows SELECT for each kind of row.
extern const std::string_view kSessionColumns;    // of sessions
extern const std::string_view kExecutionColumns;  // of executions e and sessions s
extern const std::string_view kChangeColumns;     // of file_versions v
extern const std::string_view kUseColumns;        // of file_uses u

// The rest of the rows, or of the columns of one row. kUnavailable for a value that we cannot have written.
base::Result<std::vector<core::SessionRecord>> ReadSessions(Database& database, Statement& statement);
base::Result<std::vector<core::ExecutionRecord>> ReadExecutions(Database& database, Statement& statement);
base::Result<std::vector<core::FileChange>> ReadChanges(Database& database, Statement& statement);
base::Result<std::vector<core::FileUse>> ReadUses(Database& database, Statement& statement);
// One row.
base::Result<core::FileChange> NextChange(Database& database, Statement& statement);
// Rows of kChangeColumns and then the execution's id, sequence and time.
// kTooLarge when their paths take more than `most_bytes`.
base::Result<std::vector<core::FileVersion>> ReadVersions(Database& database, Statement& statement,
                                                          std::size_t most_bytes);

}  // namespace skerry::store
