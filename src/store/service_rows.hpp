// What a daemon keeps: records to parameters of statements, and rows to records.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/service_store.hpp"
#include "store/database.hpp"

namespace skerry::store {

// The scopes as one text: "read run".
std::string TextOf(const std::vector<core::TokenScope>& scopes);

// What follows SELECT for each kind of row.
extern const std::string_view kTokenColumns;
extern const std::string_view kHostedColumns;
extern const std::string_view kRunColumns;
extern const std::string_view kRunSummaryColumns;  // with the summary in place of the result
extern const std::string_view kApprovalColumns;

// Read the rest of the statement's rows. kUnavailable for a value that Skerry cannot have written.
base::Result<std::vector<core::TokenRecord>> ReadTokens(Database& database, Statement& statement);
base::Result<std::vector<core::HostedSessionRecord>> ReadHosted(Database& database, Statement& statement);
base::Result<std::vector<core::RunRecord>> ReadRuns(Database& database, Statement& statement);
// Rows of a run's id, its tenant and its sequence.
base::Result<std::vector<core::RunOwner>> ReadOwners(Database& database, Statement& statement);
base::Result<std::vector<core::ApprovalRecord>> ReadApprovals(Database& database, Statement& statement);

// The runs of a filter, the newest first.
base::Result<std::vector<core::RunRecord>> SelectRuns(Database& database, const core::RunFilter& filter);

}  // namespace skerry::store
