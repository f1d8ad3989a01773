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

// Read the rest of the statement's rows. kUnavailable for a value that Skerry cannot have written.
base::Result<std::vector<core::SessionRecord>> ReadSessions(Database& database, Statement& statement);
base::Result<std::vector<core::ExecutionRecord>> ReadExecutions(Database& database, Statement& statement);
base::Result<std::vector<core::FileChange>> ReadChanges(Database& database, Statement& statement);
base::Result<std::vector<core::FileUse>> ReadUses(Database& database, Statement& statement);
// Reads the columns of one change from the present row.
base::Result<core::FileChange> NextChange(Database& database, Statement& statement);
// Reads rows of kChangeColumns that are followed by the execution's id, sequence and time. kTooLarge when the paths
// take more than `most_bytes`.
base::Result<std::vector<core::FileVersion>> ReadVersions(Database& database, Statement& statement,
                                                          std::size_t most_bytes);

}  // namespace skerry::store
