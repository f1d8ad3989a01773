#include "store/sqlite_record_store.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "base/printable.hpp"
#include "base/sha256.hpp"
#include "store/columns.hpp"
#include "store/lookup.hpp"
#include "store/record_rows.hpp"
#include "store/sqlite_error.hpp"

namespace skerry::store {
namespace {

using base::Code;
using base::Err;
using Row = Statement::Row;
using Lock = std::lock_guard<std::mutex>;

constexpr std::string_view kFromExecutions = " FROM executions e JOIN sessions s ON s.key = e.session ";

std::string SelectExecutions(std::string_view rest) {
  return Select(kExecutionColumns, std::string(kFromExecutions) + std::string(rest));
}

}  // namespace

base::Result<std::unique_ptr<SqliteRecordStore>> SqliteRecordStore::Open(const std::string& path,
                                                                         const OpenOptions& options) {
  SKERRY_ASSIGN_OR_RETURN(auto database, OpenRecord(path, options));
  return std::unique_ptr<SqliteRecordStore>(new SqliteRecordStore(std::move(database)));
}

base::Result<std::int64_t> SqliteRecordStore::SessionKey(const std::string& id) {
  SKERRY_ASSIGN_OR_RETURN(Statement find, database_->Prepare("SELECT key FROM sessions WHERE id = ?"));
  return KeyOf(std::move(find), "session", id);
}

base::Result<std::int64_t> SqliteRecordStore::LivingSessionKey(const std::string& id) {
  SKERRY_ASSIGN_OR_RETURN(Statement find,
                          database_->Prepare("SELECT key FROM sessions WHERE id = ? AND deleted_at IS NULL"));
  return KeyOf(std::move(find), "living session", id);
}

base::Result<std::int64_t> SqliteRecordStore::SequenceOf(const std::string& execution) {
  SKERRY_ASSIGN_OR_RETURN(Statement find, database_->Prepare("SELECT sequence FROM executions WHERE id = ?"));
  return KeyOf(std::move(find), "execution", execution);
}

base::Status SqliteRecordStore::AddSession(const core::SessionRecord& session) {
  const Lock lock(mutex_);
  SKERRY_ASSIGN_OR_RETURN(Transaction transaction, Transaction::Begin(*database_));
  SKERRY_RETURN_IF_ERROR(MustNotBeThere(LivingSessionKey(session.id), "session", session.id));
  SKERRY_ASSIGN_OR_RETURN(Statement purge, database_->Prepare("DELETE FROM sessions WHERE id = ?"));
  SKERRY_RETURN_IF_ERROR(purge.Text(session.id).Run());
  SKERRY_ASSIGN_OR_RETURN(
      Statement insert,
      database_->Prepare("INSERT INTO sessions(id, created_by, created_at, used_at) VALUES(?, ?, ?, ?)"));
  insert.Text(session.id).Text(session.created_by);
  insert.Number(ToMicroseconds(session.created_at)).Number(ToMicroseconds(session.used_at));
  SKERRY_RETURN_IF_ERROR(insert.Run());
  return transaction.Commit();
}

base::Status SqliteRecordStore::TouchSession(const std::string& id, core::TimePoint used_at) {
  const Lock lock(mutex_);
  // Of two processes the later use counts, whoever writes last.
  SKERRY_ASSIGN_OR_RETURN(
      Statement update,
      database_->Prepare("UPDATE sessions SET used_at = max(used_at, ?) WHERE id = ? AND deleted_at IS NULL"));
  SKERRY_RETURN_IF_ERROR(update.Number(ToMicroseconds(used_at)).Text(id).Run());
  if (database_->RowsWritten() == 0) return NotThere("living session", id);
  return {};
}

base::Status SqliteRecordStore::EndSession(const std::string& id, core::TimePoint deleted_at) {
  const Lock lock(mutex_);
  SKERRY_ASSIGN_OR_RETURN(Statement update,
                          database_->Prepare("UPDATE sessions SET deleted_at = ? WHERE id = ? AND deleted_at IS NULL"));
  SKERRY_RETURN_IF_ERROR(update.Number(ToMicroseconds(deleted_at)).Text(id).Run());
  if (database_->RowsWritten() == 0) return NotThere("living session", id);
  return {};
}

base::Result<core::SessionRecord> SqliteRecordStore::FindSession(const std::string& id) {
  const Lock lock(mutex_);
  SKERRY_ASSIGN_OR_RETURN(Statement find, database_->Prepare(Select(kSessionColumns, " FROM sessions WHERE id = ?")));
  SKERRY_ASSIGN_OR_RETURN(auto sessions, ReadSessions(find.Text(id)));
  if (sessions.empty()) return NotThere("session", id);
  return std::move(sessions.front());
}

base::Result<std::vector<core::SessionRecord>> SqliteRecordStore::Sessions(Which which) {
  const Lock lock(mutex_);
  const std::string_view living = which == Which::kLiving ? " WHERE deleted_at IS NULL" : "";
  SKERRY_ASSIGN_OR_RETURN(
      Statement list,
      database_->Prepare(Select(kSessionColumns, " FROM sessions" + std::string(living) + " ORDER BY key")));
  return ReadSessions(list);
}

base::Result<std::uint64_t> SqliteRecordStore::BeginExecution(const core::ExecutionRecord& execution) {
  const std::string digest = base::Sha256Hex(execution.what);
  const Lock lock(mutex_);
  SKERRY_ASSIGN_OR_RETURN(Transaction transaction, Transaction::Begin(*database_));
  SKERRY_ASSIGN_OR_RETURN(const std::int64_t session, LivingSessionKey(execution.session));
  SKERRY_RETURN_IF_ERROR(MustNotBeThere(SequenceOf(execution.id), "execution", execution.id));
  SKERRY_RETURN_IF_ERROR(InsertExecution(session, digest, execution));
  const std::int64_t sequence = database_->LastInsertedRow();
  SKERRY_RETURN_IF_ERROR(InsertCause(sequence, execution.caused_by));
  SKERRY_RETURN_IF_ERROR(transaction.Commit());
  return static_cast<std::uint64_t>(sequence);
}

base::Status SqliteRecordStore::InsertExecution(std::int64_t session, const std::string& digest,
                                                const core::ExecutionRecord& execution) {
  SKERRY_ASSIGN_OR_RETURN(
      Statement insert,
      database_->Prepare("INSERT INTO executions(id, session, kind, language, asked_by, sandbox, risk, approval, "
                         "timeout_seconds, memory_mb, started_at, what_bytes, what_sha256, what) "
                         "VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"));
  insert.Text(execution.id).Number(session).Text(execution.kind).Text(execution.language).Text(execution.by);
  insert.Text(execution.sandbox).Text(execution.risk).Text(execution.approval);
  insert.Number(std::bit_cast<std::int64_t>(execution.timeout_seconds));
  insert.Number(std::bit_cast<std::int64_t>(execution.memory_mb)).Number(ToMicroseconds(execution.started_at));
  insert.Number(static_cast<std::int64_t>(execution.what.size())).Text(digest);
  insert.Bytes(Beginning(execution.what, core::kMaxRecordedWhat));
  return insert.Run();
}

base::Status SqliteRecordStore::InsertCause(std::int64_t sequence, const std::string& cause) {
  if (cause.empty()) return {};
  SKERRY_ASSIGN_OR_RETURN(Statement insert, database_->Prepare("INSERT INTO causes(execution, cause) VALUES(?, ?)"));
  return insert.Number(sequence).Text(cause).Run();
}

base::Status SqliteRecordStore::EndExecution(const std::string& id, const core::ExecutionEnd& end) {
  if (end.state == core::ExecutionState::kRunning)
    return Err(Code::kInvalidArgument, "an execution that ended is not running");
  const Lock lock(mutex_);
  SKERRY_ASSIGN_OR_RETURN(Transaction transaction, Transaction::Begin(*database_));
  SKERRY_ASSIGN_OR_RETURN(const std::int64_t sequence, SequenceOf(id));
  SKERRY_RETURN_IF_ERROR(UpdateExecution(sequence, end));
  if (database_->RowsWritten() == 0)
    return Err(Code::kConflict, "the execution '" + base::Printable(id) + "' has ended already");
  SKERRY_RETURN_IF_ERROR(InsertChanges(sequence, end.changes));
  SKERRY_RETURN_IF_ERROR(InsertUses(sequence, end.uses));
  return transaction.Commit();
}

base::Status SqliteRecordStore::UpdateExecution(std::int64_t sequence, const core::ExecutionEnd& end) {
  SKERRY_ASSIGN_OR_RETURN(
      Statement update,
      database_->Prepare("UPDATE executions SET state = ?, sandbox = ifnull(nullif(?, ''), sandbox), "
                         "risk = ifnull(nullif(?, ''), risk), approval = ifnull(nullif(?, ''), approval), outcome = ?, "
                         "exit_code = ?, reason = ?, ended_at = ?, obtain = ?, run = ?, finish = ? "
                         "WHERE sequence = ? AND state = 'running'"));
  update.Text(NameOf(end.state)).Text(end.sandbox).Text(end.risk).Text(end.approval).Text(end.outcome);
  update.Number(end.exit_code).Text(end.reason).Number(ToMicroseconds(end.ended_at));
  update.Number(end.obtain.count()).Number(end.run.count()).Number(end.finish.count()).Number(sequence);
  return update.Run();
}

base::Status SqliteRecordStore::InsertChanges(std::int64_t sequence, const std::vector<core::FileChange>& changes) {
  SKERRY_ASSIGN_OR_RETURN(
      Statement insert,
      database_->Prepare("INSERT INTO file_versions(execution, session, path, action, kind, size, mode, sha256) "
                         "VALUES(?1, (SELECT session FROM executions WHERE sequence = ?1), ?, ?, ?, ?, ?, ?)"));
  for (const core::FileChange& change : changes) {
    BindChange(insert.Number(sequence), change);
    SKERRY_RETURN_IF_ERROR(insert.Run());
  }
  return {};
}

base::Status SqliteRecordStore::InsertUses(std::int64_t sequence, const std::vector<core::FileUse>& uses) {
  SKERRY_ASSIGN_OR_RETURN(Statement insert,
                          database_->Prepare("INSERT INTO file_uses(execution, path, how, sha256) VALUES(?, ?, ?, ?)"));
  for (const core::FileUse& use : uses) {
    BindUse(insert.Number(sequence), use);
    SKERRY_RETURN_IF_ERROR(insert.Run());
  }
  return {};
}

base::Result<std::vector<core::ExecutionRecord>> SqliteRecordStore::Executions(const std::string& session,
                                                                               std::uint64_t after, std::size_t limit) {
  const Lock lock(mutex_);
  SKERRY_ASSIGN_OR_RETURN(const std::int64_t key, SessionKey(session));
  SKERRY_ASSIGN_OR_RETURN(
      Statement list,
      database_->Prepare(SelectExecutions("WHERE e.session = ? AND e.sequence > ? ORDER BY e.sequence LIMIT ?")));
  return ReadExecutions(*database_, list.Number(key).Number(Saturated(after)).Number(Saturated(limit)));
}

base::Result<core::ExecutionRecord> SqliteRecordStore::FindExecution(const std::string& id) {
  const Lock lock(mutex_);
  SKERRY_ASSIGN_OR_RETURN(Statement find, database_->Prepare(SelectExecutions("WHERE e.id = ?")));
  SKERRY_ASSIGN_OR_RETURN(auto executions, ReadExecutions(*database_, find.Text(id)));
  if (executions.empty()) return NotThere("execution", id);
  return std::move(executions.front());
}

base::Result<std::vector<core::ExecutionRecord>> SqliteRecordStore::Unfinished(const std::string& session) {
  const Lock lock(mutex_);
  SKERRY_ASSIGN_OR_RETURN(const std::int64_t key, SessionKey(session));
  SKERRY_ASSIGN_OR_RETURN(
      Statement list,
      database_->Prepare(SelectExecutions("WHERE e.session = ? AND e.state = 'running' ORDER BY e.sequence")));
  return ReadExecutions(*database_, list.Number(key));
}

base::Result<std::vector<core::FileChange>> SqliteRecordStore::ChangesOf(const std::string& execution) {
  const Lock lock(mutex_);
  SKERRY_ASSIGN_OR_RETURN(const std::int64_t sequence, SequenceOf(execution));
  SKERRY_ASSIGN_OR_RETURN(
      Statement list,
      database_->Prepare(Select(kChangeColumns, " FROM file_versions v WHERE v.execution = ? ORDER BY v.number")));
  return ReadChanges(*database_, list.Number(sequence));
}

base::Result<std::vector<core::FileUse>> SqliteRecordStore::UsesOf(const std::string& execution) {
  const Lock lock(mutex_);
  SKERRY_ASSIGN_OR_RETURN(const std::int64_t sequence, SequenceOf(execution));
  SKERRY_ASSIGN_OR_RETURN(
      Statement list,
      database_->Prepare(Select(kUseColumns, " FROM file_uses u WHERE u.execution = ? ORDER BY u.number")));
  return ReadUses(*database_, list.Number(sequence));
}

base::Result<std::vector<core::FileVersion>> SqliteRecordStore::VersionsOf(const std::string& session,
                                                                           const std::string& path) {
  const Lock lock(mutex_);
  SKERRY_ASSIGN_OR_RETURN(const std::int64_t key, SessionKey(session));
  SKERRY_ASSIGN_OR_RETURN(
      Statement list,
      database_->Prepare(Select(kChangeColumns,
                                ", e.id, e.sequence, ifnull(e.ended_at, e.started_at) FROM file_versions v "
                                "JOIN executions e ON e.sequence = v.execution "
                                "WHERE v.session = ? AND v.path = ? ORDER BY v.number")));
  return ReadVersions(*database_, list.Number(key).Bytes(path));
}

base::Result<std::vector<core::FileVersion>> SqliteRecordStore::CurrentFiles(const std::string& session) {
  const Lock lock(mutex_);
  SKERRY_ASSIGN_OR_RETURN(const std::int64_t key, SessionKey(session));
  // The index alone tells the last state of each path; only those rows are read. Sorting here is cheaper than letting
  // SQLite do it: the rows come in that order already, which SQLite does not know.
  SKERRY_ASSIGN_OR_RETURN(
      Statement list,
      database_->Prepare(Select(kChangeColumns,
                                ", e.id, e.sequence, ifnull(e.ended_at, e.started_at) FROM "
                                "(SELECT max(number) AS number FROM file_versions WHERE session = ? GROUP BY path) n "
                                "CROSS JOIN file_versions v ON v.number = n.number "
                                "CROSS JOIN executions e ON e.sequence = v.execution WHERE v.action <> 'removed'")));
  SKERRY_ASSIGN_OR_RETURN(auto files, ReadVersions(*database_, list.Number(key)));
  std::ranges::sort(files, {}, [](const core::FileVersion& file) -> const std::string& { return file.change.path; });
  return files;
}

base::Status SqliteRecordStore::Check() {
  const Lock lock(mutex_);
  SKERRY_ASSIGN_OR_RETURN(Statement check, database_->Prepare("PRAGMA quick_check(1)"));
  SKERRY_RETURN_IF_ERROR(check.Step());
  if (const std::string said = check.NextText(); said != "ok")
    return std::unexpected(DamagedError(database_->path(), said));
  SKERRY_ASSIGN_OR_RETURN(Statement keys, database_->Prepare("PRAGMA foreign_key_check"));
  SKERRY_ASSIGN_OR_RETURN(const Row row, keys.Step());
  if (row == Row::kNoMore) return {};
  return std::unexpected(DamagedError(database_->path(), "a row of " + keys.NextText() + " belongs to nothing"));
}

}  // namespace skerry::store
