#include "store/service_rows.hpp"

#include <limits>

#include "store/columns.hpp"
#include "store/lookup.hpp"
#include "store/run_form.hpp"

namespace skerry::store {
namespace {

base::Result<std::vector<core::TokenScope>> ScopesOf(Database& database, const std::string& text) {
  std::vector<core::TokenScope> scopes;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find(' ', begin), text.size());
    SKERRY_ASSIGN_OR_RETURN(const core::TokenScope scope,
                            Parsed(database, text.substr(begin, end - begin), core::ParseTokenScope));
    scopes.push_back(scope);
    begin = end + 1;
  }
  return scopes;
}

base::Result<core::TokenRecord> NextToken(Database& database, Statement& statement) {
  core::TokenRecord token;
  token.id = statement.NextText();
  token.name = statement.NextText();
  token.tenant = statement.NextText();
  SKERRY_ASSIGN_OR_RETURN(token.scopes, ScopesOf(database, statement.NextText()));
  token.secret_sha256 = statement.NextText();
  token.limits.requests_per_second = NextUnsigned(statement);
  token.limits.concurrent_runs = NextUnsigned(statement);
  token.limits.sessions = NextUnsigned(statement);
  token.created_by = statement.NextText();
  token.created_at = NextTime(statement);
  token.expires_at = NextOptionalTime(statement);
  token.revoked_at = NextOptionalTime(statement);
  return token;
}

base::Result<core::HostedSessionRecord> NextHosted(Database& /*database*/, Statement& statement) {
  core::HostedSessionRecord session;
  session.id = statement.NextText();
  session.tenant = statement.NextText();
  session.settings = statement.NextText();
  session.created_at = NextTime(statement);
  session.expires_at = NextOptionalTime(statement);
  session.in_use = statement.NextNumber() != 0;
  return session;
}

base::Result<core::RunRecord> NextRun(Database& database, Statement& statement) {
  core::RunRecord run;
  run.id = statement.NextText();
  run.sequence = NextUnsigned(statement);
  run.session = statement.NextText();
  run.tenant = statement.NextText();
  run.kind = statement.NextText();
  run.language = statement.NextText();
  SKERRY_RETURN_IF_ERROR(NextName(database, statement, core::ParseRunState, run.state));
  run.created_at = NextTime(statement);
  run.ended_at = NextOptionalTime(statement);
  run.what = statement.NextText();
  const std::string end = statement.NextText();
  if (core::IsFinal(run.state)) run.end = DecodeEnd(run.state, end);
  return run;
}

base::Result<core::RunOwner> NextOwner(Database& /*database*/, Statement& statement) {
  core::RunOwner owner{.id = statement.NextText()};
  owner.tenant = statement.NextText();
  owner.sequence = NextUnsigned(statement);
  return owner;
}

base::Result<core::ApprovalRecord> NextApproval(Database& /*database*/, Statement& statement) {
  core::ApprovalRecord approval;
  approval.id = statement.NextText();
  approval.session = statement.NextText();
  approval.execution = statement.NextText();
  approval.tenant = statement.NextText();
  approval.digest = statement.NextText();
  approval.decision = statement.NextText();
  approval.decided_by = statement.NextText();
  approval.decided_from = statement.NextText();
  approval.scope = statement.NextText();
  approval.reason = statement.NextText();
  approval.asked_at = NextTime(statement);
  approval.decided_at = NextOptionalTime(statement);
  return approval;
}

// The index that leaves the fewest rows. SQLite does not know how many rows each one leaves and would guess.
std::string_view IndexFor(const core::RunFilter& filter) {
  if (filter.state && *filter.state != core::RunState::kDone) return "INDEXED BY runs_not_done";
  if (filter.session && !filter.session->empty()) return "INDEXED BY runs_of_session";
  if (filter.tenant) return "INDEXED BY runs_of_tenant";
  if (filter.session) return "INDEXED BY runs_of_session";
  return "NOT INDEXED";  // the order of the table is the one that is asked for
}

std::string SelectOf(const core::RunFilter& filter) {
  std::string sql = Select(kRunSummaryColumns, " FROM runs ") + std::string(IndexFor(filter)) + " WHERE sequence < ?";
  if (filter.tenant) sql += " AND tenant = ?";
  if (filter.session) sql += " AND session = ?";
  if (filter.kind) sql += " AND kind = ?";
  // The state is part of the statement's text, also in the second condition: only then does SQLite use the index of
  // runs that are not done.
  if (filter.state) sql += " AND state = '" + std::string(NameOf(*filter.state)) + "'";
  if (filter.state && *filter.state != core::RunState::kDone) sql += " AND state <> 'done'";
  return sql + " ORDER BY sequence DESC LIMIT ?";
}

}  // namespace

const std::string_view kTokenColumns =
    "id, name, tenant, scopes, secret_sha256, requests_per_second, concurrent_runs, sessions, created_by, created_at, "
    "expires_at, revoked_at";
const std::string_view kHostedColumns = "id, tenant, settings, created_at, expires_at, in_use";
const std::string_view kRunColumns =
    "id, sequence, session, tenant, kind, language, state, created_at, ended_at, what, result";
const std::string_view kRunSummaryColumns =
    "id, sequence, session, tenant, kind, language, state, created_at, ended_at, what, "
    "ifnull((SELECT summary FROM summaries WHERE run = sequence), '')";
const std::string_view kApprovalColumns =
    "id, session, execution, tenant, digest, decision, decided_by, decided_from, scope, reason, asked_at, decided_at";

std::string TextOf(const std::vector<core::TokenScope>& scopes) {
  std::string text;
  for (const core::TokenScope scope : scopes) {
    if (!text.empty()) text += ' ';
    text += NameOf(scope);
  }
  return text;
}

base::Result<std::vector<core::TokenRecord>> ReadTokens(Database& database, Statement& statement) {
  return ReadAll(database, statement, NextToken);
}

base::Result<std::vector<core::HostedSessionRecord>> ReadHosted(Database& database, Statement& statement) {
  return ReadAll(database, statement, NextHosted);
}

base::Result<std::vector<core::RunRecord>> ReadRuns(Database& database, Statement& statement) {
  return ReadAll(database, statement, NextRun);
}

base::Result<std::vector<core::RunOwner>> ReadOwners(Database& database, Statement& statement) {
  return ReadAll(database, statement, NextOwner);
}

base::Result<std::vector<core::ApprovalRecord>> ReadApprovals(Database& database, Statement& statement) {
  return ReadAll(database, statement, NextApproval);
}

base::Result<std::vector<core::RunRecord>> SelectRuns(Database& database, const core::RunFilter& filter) {
  SKERRY_ASSIGN_OR_RETURN(Statement list, database.Prepare(SelectOf(filter)));
  list.Number(filter.before == 0 ? std::numeric_limits<std::int64_t>::max() : Saturated(filter.before));
  for (const auto* text : {&filter.tenant, &filter.session, &filter.kind})
    if (*text) list.Text(**text);
  return ReadRuns(database, list.Number(Saturated(filter.limit)));
}

}  // namespace skerry::store
