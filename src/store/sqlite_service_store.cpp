#include "store/sqlite_service_store.hpp"

#include <bit>
#include <utility>

#include "base/printable.hpp"
#include "store/columns.hpp"
#include "store/lookup.hpp"
#include "store/run_form.hpp"
#include "store/service_rows.hpp"
#include "store/vacuum.hpp"

namespace skerry::store {
namespace {

using base::Code;
using base::Err;
using Row = Statement::Row;
using Lock = std::lock_guard<std::mutex>;

constexpr std::size_t kRunBytes = 300;  // of a row, besides its texts

std::int64_t Bits(std::uint64_t number) {
  return std::bit_cast<std::int64_t>(number);
}

}  // namespace

base::Result<std::unique_ptr<SqliteServiceStore>> SqliteServiceStore::Open(const std::string& path,
                                                                           const OpenOptions& options) {
  SKERRY_ASSIGN_OR_RETURN(auto database, OpenRecord(path, options));
  return std::unique_ptr<SqliteServiceStore>(new SqliteServiceStore(std::move(database)));
}

base::Status SqliteServiceStore::AddToken(const core::TokenRecord& token) {
  const std::string scopes = TextOf(token.scopes);
  const Lock lock(mutex_);
  SKERRY_ASSIGN_OR_RETURN(
      Statement insert,
      database_->Prepare("INSERT INTO tokens(id, name, tenant, scopes, secret_sha256, requests_per_second, "
                         "concurrent_runs, sessions, created_by, created_at, expires_at, revoked_at) "
                         "VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING"));
  insert.Text(token.id).Text(token.name).Text(token.tenant).Text(scopes).Text(token.secret_sha256);
  insert.Number(Bits(token.limits.requests_per_second)).Number(Bits(token.limits.concurrent_runs));
  insert.Number(Bits(token.limits.sessions)).Text(token.created_by).Number(ToMicroseconds(token.created_at));
  insert.OptionalNumber(ToMicroseconds(token.expires_at)).OptionalNumber(ToMicroseconds(token.revoked_at));
  return InsertNew(*database_, insert, "token", token.id);
}

base::Result<std::vector<core::TokenRecord>> SqliteServiceStore::Tokens() {
  const Lock lock(mutex_);
  SKERRY_ASSIGN_OR_RETURN(Statement list, database_->Prepare(Select(kTokenColumns, " FROM tokens ORDER BY key")));
  return ReadTokens(*database_, list);
}

base::Status SqliteServiceStore::RevokeToken(const std::string& id, core::TimePoint at) {
  const Lock lock(mutex_);
  SKERRY_ASSIGN_OR_RETURN(Statement update,
                          database_->Prepare("UPDATE tokens SET revoked_at = ifnull(revoked_at, ?) WHERE id = ?"));
  return UpdateOne(*database_, update.Number(ToMicroseconds(at)).Text(id), "token", id);
}

base::Result<std::int64_t> SqliteServiceStore::HostedKey(const std::string& id) {
  SKERRY_ASSIGN_OR_RETURN(Statement find, database_->Prepare("SELECT key FROM hosted_sessions WHERE id = ?"));
  return KeyOf(std::move(find), "hosted session", id);
}

base::Status SqliteServiceStore::InsertClaim(const std::optional<core::IdempotencyClaim>& claim,
                                             const std::string& made) {
  if (!claim) return {};
  SKERRY_ASSIGN_OR_RETURN(Statement insert,
                          database_->Prepare("INSERT INTO claims(tenant, key, request_sha256, made) VALUES(?, ?, ?, ?) "
                                             "ON CONFLICT DO NOTHING"));
  return InsertNew(*database_, insert.Text(claim->tenant).Text(claim->key).Text(claim->request_sha256).Text(made),
                   "key", claim->key);
}

base::Status SqliteServiceStore::AddHosted(const core::HostedSessionRecord& session,
                                           const std::optional<core::IdempotencyClaim>& claim) {
  // "" stands for the session of runs without one.
  if (session.id.empty()) return Err(Code::kInvalidArgument, "a hosted session has an id");
  const Lock lock(mutex_);
  SKERRY_ASSIGN_OR_RETURN(Transaction transaction, Transaction::Begin(*database_));
  SKERRY_RETURN_IF_ERROR(InsertClaim(claim, session.id));
  SKERRY_ASSIGN_OR_RETURN(
      Statement insert,
      database_->Prepare("INSERT INTO hosted_sessions(id, tenant, settings, created_at, expires_at, in_use) "
                         "VALUES(?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING"));
  insert.Text(session.id).Text(session.tenant).Text(session.settings).Number(ToMicroseconds(session.created_at));
  insert.OptionalNumber(ToMicroseconds(session.expires_at)).Number(session.in_use ? 1 : 0);
  SKERRY_RETURN_IF_ERROR(InsertNew(*database_, insert, "hosted session", session.id));
  return transaction.Commit();
}

base::Status SqliteServiceStore::UpdateHosted(const core::HostedSessionRecord& session) {
  const Lock lock(mutex_);
  SKERRY_ASSIGN_OR_RETURN(
      Statement update,
      database_->Prepare("UPDATE hosted_sessions SET settings = ?, expires_at = ?, in_use = ? WHERE id = ?"));
  update.Text(session.settings).OptionalNumber(ToMicroseconds(session.expires_at)).Number(session.in_use ? 1 : 0);
  return UpdateOne(*database_, update.Text(session.id), "hosted session", session.id);
}

base::Status SqliteServiceStore::RemoveHosted(const std::string& id) {
  // A part of the runs at a time, so that others can write in between.
  while (true) {
    SKERRY_ASSIGN_OR_RETURN(const bool all, RemovePartOf(id));
    if (all) return {};
  }
}

base::Result<bool> SqliteServiceStore::RemovePartOf(const std::string& session) {
  constexpr std::size_t kAtOnce = 100;
  const Lock lock(mutex_);
  SKERRY_ASSIGN_OR_RETURN(Transaction transaction, Transaction::Begin(*database_));
  SKERRY_RETURN_IF_ERROR(HostedKey(session));
  SKERRY_ASSIGN_OR_RETURN(Statement list, database_->Prepare("SELECT id FROM runs WHERE session = ? LIMIT ?"));
  list.Text(session).Number(kAtOnce);
  std::vector<std::string> removed;
  SKERRY_RETURN_IF_ERROR(RemoveListed(std::move(list), removed));
  const bool all = removed.size() < kAtOnce;
  if (all) {
    SKERRY_RETURN_IF_ERROR(RemoveWithClaims("DELETE FROM hosted_sessions WHERE id = ?", session));
  }
  SKERRY_RETURN_IF_ERROR(transaction.Commit());
  return all;
}

base::Result<std::vector<core::HostedSessionRecord>> SqliteServiceStore::Hosted() {
  const Lock lock(mutex_);
  SKERRY_ASSIGN_OR_RETURN(Statement list,
                          database_->Prepare(Select(kHostedColumns, " FROM hosted_sessions ORDER BY key")));
  return ReadHosted(*database_, list);
}

base::Status SqliteServiceStore::InsertRun(const core::RunRecord& run) {
  SKERRY_ASSIGN_OR_RETURN(
      Statement insert,
      database_->Prepare("INSERT INTO runs(id, session, tenant, kind, language, state, created_at, what, bytes) "
                         "VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING"));
  insert.Text(run.id).Text(run.session).Text(run.tenant).Text(run.kind).Text(run.language).Text(NameOf(run.state));
  insert.Number(ToMicroseconds(run.created_at)).Text(run.what);
  insert.Number(static_cast<std::int64_t>(kRunBytes + run.what.size()));
  return InsertNew(*database_, insert, "run", run.id);
}

base::Result<std::uint64_t> SqliteServiceStore::BeginRun(const core::RunRecord& run,
                                                         const std::optional<core::IdempotencyClaim>& claim) {
  if (IsFinal(run.state)) return Err(Code::kInvalidArgument, "a run that begins has not ended");
  const Lock lock(mutex_);
  SKERRY_ASSIGN_OR_RETURN(Transaction transaction, Transaction::Begin(*database_));
  if (!run.session.empty()) SKERRY_RETURN_IF_ERROR(HostedKey(run.session));
  SKERRY_RETURN_IF_ERROR(InsertRun(run));
  const std::int64_t sequence = database_->LastInsertedRow();
  SKERRY_RETURN_IF_ERROR(InsertClaim(claim, run.id));
  SKERRY_RETURN_IF_ERROR(transaction.Commit());
  return static_cast<std::uint64_t>(sequence);
}

base::Result<std::uint64_t> SqliteServiceStore::EndRun(const std::string& id, const core::RunEnd& end,
                                                       core::TimePoint at) {
  if (!IsFinal(end.state)) return Err(Code::kInvalidArgument, "a run that ended is done or lost");
  const std::string result = EncodeEnd(end);
  const std::string summary =
      EncodeEnd({.state = end.state, .result = core::SummaryOf(end.result), .error = end.error});
  const std::uint64_t bytes = result.size() + summary.size();
  const Lock lock(mutex_);
  SKERRY_ASSIGN_OR_RETURN(Transaction transaction, Transaction::Begin(*database_));
  SKERRY_ASSIGN_OR_RETURN(Statement update,
                          database_->Prepare("UPDATE runs SET state = ?, result = ?, bytes = bytes + ?, ended_at = ? "
                                             "WHERE id = ? AND ended_at IS NULL"));
  update.Text(NameOf(end.state)).Text(result);
  update.Number(static_cast<std::int64_t>(bytes));
  update.Number(ToMicroseconds(at)).Text(id);
  SKERRY_RETURN_IF_ERROR(update.Run());
  const bool ended = database_->RowsWritten() != 0;
  SKERRY_ASSIGN_OR_RETURN(Statement find, database_->Prepare("SELECT sequence FROM runs WHERE id = ?"));
  SKERRY_ASSIGN_OR_RETURN(const std::int64_t sequence, KeyOf(std::move(find), "run", id));
  if (ended) {
    SKERRY_ASSIGN_OR_RETURN(Statement insert, database_->Prepare("INSERT INTO summaries(run, summary) VALUES(?, ?)"));
    SKERRY_RETURN_IF_ERROR(insert.Number(sequence).Text(summary).Run());
    SKERRY_RETURN_IF_ERROR(transaction.Commit());
    return bytes;
  }
  return Err(Code::kConflict, "the run '" + base::Printable(id) + "' has ended already");
}

base::Result<core::RunRecord> SqliteServiceStore::FindRun(const std::string& id) {
  const Lock lock(mutex_);
  SKERRY_ASSIGN_OR_RETURN(Statement find, database_->Prepare(Select(kRunColumns, " FROM runs WHERE id = ?")));
  return FirstOf(ReadRuns(*database_, find.Text(id)), "run", id);
}

base::Result<std::vector<core::RunRecord>> SqliteServiceStore::Runs(const core::RunFilter& filter) {
  const Lock lock(mutex_);
  return SelectRuns(*database_, filter);
}

base::Result<std::vector<core::RunOwner>> SqliteServiceStore::RunOwners() {
  const Lock lock(mutex_);
  SKERRY_ASSIGN_OR_RETURN(Statement list, database_->Prepare("SELECT id, tenant, sequence FROM runs"));
  return ReadOwners(*database_, list);
}

base::Result<std::vector<core::RunRecord>> SqliteServiceStore::UnfinishedRuns() {
  const Lock lock(mutex_);
  SKERRY_ASSIGN_OR_RETURN(
      Statement list,
      database_->Prepare(Select(kRunColumns,
                                " FROM runs INDEXED BY runs_not_done "
                                "WHERE state <> 'done' AND state IN ('waiting', 'running') ORDER BY sequence")));
  return ReadRuns(*database_, list);
}

base::Status SqliteServiceStore::RemoveWithClaims(std::string_view remove, const std::string& id) {
  for (const std::string_view sql : {std::string_view("DELETE FROM claims WHERE made = ?"), remove}) {
    SKERRY_ASSIGN_OR_RETURN(Statement statement, database_->Prepare(sql));
    SKERRY_RETURN_IF_ERROR(statement.Text(id).Run());
  }
  return {};
}

base::Status SqliteServiceStore::RemoveListed(Statement list, std::vector<std::string>& removed) {
  const std::size_t before = removed.size();
  while (true) {
    SKERRY_ASSIGN_OR_RETURN(const Row row, list.Step());
    if (row == Row::kNoMore) break;
    removed.push_back(list.NextText());
  }
  for (std::size_t i = before; i < removed.size(); ++i)
    SKERRY_RETURN_IF_ERROR(RemoveWithClaims("DELETE FROM runs WHERE id = ?", removed[i]));
  return {};
}

base::Result<std::vector<std::string>> SqliteServiceStore::ForgetRuns(core::TimePoint ended_before, std::size_t keep,
                                                                      std::size_t limit) {
  const Lock lock(mutex_);
  SKERRY_ASSIGN_OR_RETURN(Transaction transaction, Transaction::Begin(*database_));
  std::vector<std::string> forgotten;
  SKERRY_ASSIGN_OR_RETURN(
      Statement old, database_->Prepare("SELECT id FROM runs INDEXED BY runs_by_end "
                                        "WHERE session = '' AND ended_at < ? ORDER BY ended_at, sequence LIMIT ?"));
  old.Number(ToMicroseconds(ended_before)).Number(Saturated(limit));
  SKERRY_RETURN_IF_ERROR(RemoveListed(std::move(old), forgotten));
  // When the limit was reached, the next call goes on.
  if (forgotten.size() < limit) {
    SKERRY_ASSIGN_OR_RETURN(
        Statement many,
        database_->Prepare(
            "SELECT id FROM runs INDEXED BY runs_of_session WHERE session = '' AND sequence <= "
            "(SELECT sequence FROM runs INDEXED BY runs_of_session WHERE session = '' "
            "ORDER BY sequence DESC LIMIT 1 OFFSET ?) AND ended_at IS NOT NULL ORDER BY sequence LIMIT ?"));
    many.Number(Saturated(keep)).Number(Saturated(limit - forgotten.size()));
    SKERRY_RETURN_IF_ERROR(RemoveListed(std::move(many), forgotten));
  }
  SKERRY_RETURN_IF_ERROR(transaction.Commit());
  return forgotten;
}

base::Result<core::ServiceStore::Forgotten> SqliteServiceStore::ForgetRunsOf(const std::string& tenant,
                                                                             std::uint64_t bytes, std::size_t limit) {
  const Lock lock(mutex_);
  SKERRY_ASSIGN_OR_RETURN(Transaction transaction, Transaction::Begin(*database_));
  Forgotten forgotten;
  {
    SKERRY_ASSIGN_OR_RETURN(Statement list,
                            database_->Prepare("SELECT id, bytes FROM runs INDEXED BY runs_of_tenant WHERE tenant = ? "
                                               "AND ended_at IS NOT NULL ORDER BY sequence LIMIT ?"));
    list.Text(tenant).Number(Saturated(limit));
    while (forgotten.bytes < bytes) {
      SKERRY_ASSIGN_OR_RETURN(const Row row, list.Step());
      if (row == Row::kNoMore) break;
      forgotten.ids.push_back(list.NextText());
      forgotten.bytes += NextUnsigned(list);
    }
  }
  for (const std::string& id : forgotten.ids)
    SKERRY_RETURN_IF_ERROR(RemoveWithClaims("DELETE FROM runs WHERE id = ?", id));
  SKERRY_RETURN_IF_ERROR(transaction.Commit());
  return forgotten;
}

base::Result<std::map<std::string, std::uint64_t>> SqliteServiceStore::BytesByTenant() {
  const Lock lock(mutex_);
  SKERRY_ASSIGN_OR_RETURN(
      Statement sums, database_->Prepare("SELECT tenant, sum(bytes) FROM runs INDEXED BY runs_bytes GROUP BY tenant"));
  return ReadSums(sums);
}

base::Result<core::IdempotencyRecord> SqliteServiceStore::FindClaim(const std::string& tenant, const std::string& key) {
  const Lock lock(mutex_);
  SKERRY_ASSIGN_OR_RETURN(Statement find,
                          database_->Prepare("SELECT request_sha256, made FROM claims WHERE tenant = ? AND key = ?"));
  SKERRY_ASSIGN_OR_RETURN(const Row row, find.Text(tenant).Text(key).Step());
  if (row == Row::kNoMore) return NotThere("key", key);
  core::IdempotencyRecord claim;
  claim.request_sha256 = find.NextText();
  claim.made = find.NextText();
  return claim;
}

base::Status SqliteServiceStore::AddApproval(const core::ApprovalRecord& approval) {
  const Lock lock(mutex_);
  SKERRY_ASSIGN_OR_RETURN(
      Statement insert,
      database_->Prepare("INSERT INTO approvals(id, session, execution, tenant, digest, decision, decided_by, "
                         "decided_from, scope, reason, asked_at, decided_at) "
                         "VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING"));
  insert.Text(approval.id).Text(approval.session).Text(approval.execution).Text(approval.tenant).Text(approval.digest);
  insert.Text(approval.decision).Text(approval.decided_by).Text(approval.decided_from).Text(approval.scope);
  insert.Text(approval.reason);
  insert.Number(ToMicroseconds(approval.asked_at)).OptionalNumber(ToMicroseconds(approval.decided_at));
  return InsertNew(*database_, insert, "approval", approval.id);
}

base::Status SqliteServiceStore::DecideApproval(const core::ApprovalRecord& approval) {
  if (approval.decision.empty()) return Err(Code::kInvalidArgument, "an approval that was decided has a decision");
  const Lock lock(mutex_);
  SKERRY_ASSIGN_OR_RETURN(Statement update,
                          database_->Prepare("UPDATE approvals SET decision = ?, decided_by = ?, decided_from = ?, "
                                             "scope = ?, reason = ?, decided_at = ? WHERE id = ? AND decision = ''"));
  update.Text(approval.decision).Text(approval.decided_by).Text(approval.decided_from).Text(approval.scope);
  update.Text(approval.reason).OptionalNumber(ToMicroseconds(approval.decided_at)).Text(approval.id);
  SKERRY_RETURN_IF_ERROR(update.Run());
  if (database_->RowsWritten() != 0) return {};
  SKERRY_RETURN_IF_ERROR(NumberOfApproval(approval.id));
  return Err(Code::kConflict, "the approval '" + base::Printable(approval.id) + "' was decided already");
}

base::Result<std::int64_t> SqliteServiceStore::NumberOfApproval(const std::string& id) {
  SKERRY_ASSIGN_OR_RETURN(Statement find, database_->Prepare("SELECT number FROM approvals WHERE id = ?"));
  return KeyOf(std::move(find), "approval", id);
}

base::Status SqliteServiceStore::CancelApprovals(const std::string& reason, core::TimePoint at) {
  const Lock lock(mutex_);
  SKERRY_ASSIGN_OR_RETURN(Statement update,
                          database_->Prepare("UPDATE approvals SET decision = 'cancelled', reason = ?, "
                                             "decided_at = ? WHERE decision = ''"));
  return update.Text(reason).Number(ToMicroseconds(at)).Run();
}

base::Result<std::vector<core::ApprovalRecord>> SqliteServiceStore::Approvals(const core::ApprovalFilter& filter) {
  const Lock lock(mutex_);
  std::int64_t before = std::numeric_limits<std::int64_t>::max();
  if (!filter.before.empty()) {
    SKERRY_ASSIGN_OR_RETURN(before, NumberOfApproval(filter.before));
  }
  SKERRY_ASSIGN_OR_RETURN(Statement list,
                          database_->Prepare(Select(kApprovalColumns,
                                                    " FROM approvals WHERE number < ?1 AND (?2 IS NULL OR tenant = ?2) "
                                                    "AND (?3 IS NULL OR session = ?3 "
                                                    "OR substr(session, 1, length(?3) + 1) = ?3 || '~') "
                                                    "ORDER BY number DESC LIMIT ?4")));
  list.Number(before).OptionalText(filter.tenant).OptionalText(filter.session).Number(Saturated(filter.limit));
  return ReadApprovals(*database_, list);
}

base::Result<core::ApprovalRecord> SqliteServiceStore::FindApproval(const std::string& id) {
  const Lock lock(mutex_);
  SKERRY_ASSIGN_OR_RETURN(Statement find, database_->Prepare(Select(kApprovalColumns, " FROM approvals WHERE id = ?")));
  return FirstOf(ReadApprovals(*database_, find.Text(id)), "approval", id);
}

base::Status SqliteServiceStore::ForgetApprovals(std::size_t keep) {
  const Lock lock(mutex_);
  SKERRY_ASSIGN_OR_RETURN(Statement list, database_->Prepare("SELECT tenant, count(*) FROM approvals GROUP BY tenant"));
  SKERRY_ASSIGN_OR_RETURN(const auto counts, ReadSums(list));
  for (const auto& [tenant, count] : counts) {
    if (count <= keep) continue;
    SKERRY_ASSIGN_OR_RETURN(
        Statement remove,
        database_->Prepare("DELETE FROM approvals WHERE tenant = ?1 AND decision <> '' AND number <= (SELECT number "
                           "FROM approvals WHERE tenant = ?1 ORDER BY number DESC LIMIT 1 OFFSET ?2)"));
    SKERRY_RETURN_IF_ERROR(remove.Text(tenant).Number(Saturated(keep)).Run());
  }
  return {};
}

base::Result<bool> SqliteServiceStore::Shrink() {
  const Lock lock(mutex_);
  return GiveBackPages(*database_);
}

}  // namespace skerry::store
