#include "store/sqlite_record_store.hpp"

#include <algorithm>
#include <bit>
#include <chrono>
#include <thread>
#include <utility>

#include "base/printable.hpp"
#include "base/sha256.hpp"
#include "store/columns.hpp"
#include "store/forget_piece.hpp"
#include "store/lookup.hpp"
#include "store/record_rows.hpp"
#include "store/sqlite_error.hpp"

namespace skerry::store {
namespace {

using base::Code;
using base::Err;
using Row = Statement::Row;
using Lock = std::lock_guard<std::mutex>;

constexpr std::uint64_t kExecutionBytes = 600;                     // of a row, besides `what`
constexpr std::size_t kMostPathBytes = std::size_t{1} << 20U;      // of one page
constexpr std::size_t kMostCurrentBytes = std::size_t{64} << 20U;  // of the paths of all files of a session
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

// Finds a session by its id, or by the unique id that it gets when another session takes its id.
base::Result<std::int64_t> SqliteRecordStore::SessionKey(const std::string& id) {
  SKERRY_ASSIGN_OR_RETURN(Statement find, database_->Prepare("SELECT key FROM sessions WHERE id = ?"));
  auto key = KeyOf(std::move(find), "session", id);
  if (key || key.error().code != Code::kNotFound) return key;
  SKERRY_ASSIGN_OR_RETURN(
      Statement unique,
      database_->Prepare(
          "SELECT key FROM sessions WHERE id = substr(?1, 1, instr(?1, '~') - 1) AND ?1 = id || '~' || key"));
  return KeyOf(std::move(unique), "session", id);
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
  // A key is never given twice.
  SKERRY_ASSIGN_OR_RETURN(Statement distinguish,
                          database_->Prepare("UPDATE sessions SET id = id || '~' || key WHERE id = ?"));
  SKERRY_RETURN_IF_ERROR(distinguish.Text(session.id).Run());
  SKERRY_ASSIGN_OR_RETURN(
      Statement insert,
      database_->Prepare("INSERT INTO sessions(id, tenant, created_by, created_at, used_at) VALUES(?, ?, ?, ?, ?)"));
  insert.Text(session.id).Text(session.tenant).Text(session.created_by);
  insert.Number(ToMicroseconds(session.created_at)).Number(ToMicroseconds(session.used_at));
  SKERRY_RETURN_IF_ERROR(insert.Run());
  return transaction.Commit();
}

base::Status SqliteRecordStore::SetTenant(const std::string& id, const std::string& tenant) {
  const Lock lock(mutex_);
  SKERRY_ASSIGN_OR_RETURN(Statement update,
                          database_->Prepare("UPDATE sessions SET tenant = ? WHERE id = ? AND deleted_at IS NULL"));
  return UpdateOne(*database_, update.Text(tenant).Text(id), "living session", id);
}

base::Status SqliteRecordStore::TouchSession(const std::string& id, core::TimePoint used_at) {
  const Lock lock(mutex_);
  // When two processes write, the later use counts, in whatever order they write.
  SKERRY_ASSIGN_OR_RETURN(
      Statement update,
      database_->Prepare("UPDATE sessions SET used_at = max(used_at, ?) WHERE id = ? AND deleted_at IS NULL"));
  return UpdateOne(*database_, update.Number(ToMicroseconds(used_at)).Text(id), "living session", id);
}

base::Status SqliteRecordStore::EndSession(const std::string& id, core::TimePoint deleted_at) {
  const Lock lock(mutex_);
  SKERRY_ASSIGN_OR_RETURN(Statement update,
                          database_->Prepare("UPDATE sessions SET deleted_at = ? WHERE id = ? AND deleted_at IS NULL"));
  return UpdateOne(*database_, update.Number(ToMicroseconds(deleted_at)).Text(id), "living session", id);
}

base::Result<core::SessionRecord> SqliteRecordStore::FindSession(const std::string& id) {
  const Lock lock(mutex_);
  SKERRY_ASSIGN_OR_RETURN(const std::int64_t key, SessionKey(id));
  SKERRY_ASSIGN_OR_RETURN(Statement find, database_->Prepare(Select(kSessionColumns, " FROM sessions WHERE key = ?")));
  return FirstOf(ReadSessions(*database_, find.Number(key)), "session", id);
}

base::Result<std::vector<core::SessionRecord>> SqliteRecordStore::SessionsNamed(
    const std::string& name, const std::optional<std::string>& tenant) {
  const Lock lock(mutex_);
  // Behind the `~` of a name stand letters and digits, which sort before `~`.
  SKERRY_ASSIGN_OR_RETURN(Statement list, database_->Prepare(Select(
                                              kSessionColumns,
                                              " FROM sessions WHERE (id = ?1 OR (id > ?1 || '~' AND id < ?1 || '~~')) "
                                              "AND (?2 IS NULL OR tenant = ?2) ORDER BY key DESC LIMIT 1000")));
  return ReadSessions(*database_, list.Text(name).OptionalText(tenant));
}

base::Result<std::vector<core::SessionRecord>> SqliteRecordStore::Sessions(Which which) {
  const Lock lock(mutex_);
  const std::string_view living = which == Which::kLiving ? " WHERE deleted_at IS NULL" : "";
  SKERRY_ASSIGN_OR_RETURN(
      Statement list,
      database_->Prepare(Select(kSessionColumns, " FROM sessions" + std::string(living) + " ORDER BY key")));
  return ReadSessions(*database_, list);
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
  SKERRY_RETURN_IF_ERROR(AddBytes(session, kExecutionBytes + std::min(execution.what.size(), core::kMaxRecordedWhat)));
  SKERRY_RETURN_IF_ERROR(transaction.Commit());
  return static_cast<std::uint64_t>(sequence);
}

base::Status SqliteRecordStore::AddBytes(std::int64_t session, std::uint64_t bytes) {
  SKERRY_ASSIGN_OR_RETURN(Statement update, database_->Prepare("UPDATE sessions SET bytes = bytes + ? WHERE key = ?"));
  return update.Number(Saturated(bytes)).Number(session).Run();
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
  SKERRY_RETURN_IF_ERROR(InsertNotices(sequence, end.notices));
  std::uint64_t bytes = 0;
  for (const core::FileChange& change : end.changes) bytes += core::WeightOf(change);
  for (const core::FileUse& use : end.uses) bytes += core::WeightOf(use);
  for (const core::FileNotice& notice : end.notices) bytes += core::WeightOf(notice);
  SKERRY_ASSIGN_OR_RETURN(Statement find, database_->Prepare("SELECT session FROM executions WHERE id = ?"));
  SKERRY_ASSIGN_OR_RETURN(const std::int64_t session, KeyOf(std::move(find), "execution", id));
  SKERRY_RETURN_IF_ERROR(AddBytes(session, bytes));
  return transaction.Commit();
}

base::Status SqliteRecordStore::UpdateExecution(std::int64_t sequence, const core::ExecutionEnd& end) {
  SKERRY_ASSIGN_OR_RETURN(
      Statement update,
      database_->Prepare("UPDATE executions SET state = ?, sandbox = ifnull(nullif(?, ''), sandbox), "
                         "risk = ifnull(nullif(?, ''), risk), approval = ifnull(nullif(?, ''), approval), "
                         "digest = ifnull(nullif(?, ''), digest), outcome = ?, exit_code = ?, reason = ?, ended_at = "
                         "?, obtain = ?, run = ?, finish = ?, left_out = ? "
                         "WHERE sequence = ? AND state = 'running'"));
  update.Text(NameOf(end.state)).Text(end.sandbox).Text(end.risk).Text(end.approval).Text(end.digest);
  update.Text(end.outcome);
  update.Number(end.exit_code).Text(end.reason).Number(ToMicroseconds(end.ended_at));
  update.Number(end.obtain.count()).Number(end.run.count()).Number(end.finish.count());
  update.Number(Saturated(end.left_out)).Number(sequence);
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

base::Status SqliteRecordStore::InsertNotices(std::int64_t sequence, const std::vector<core::FileNotice>& notices) {
  SKERRY_ASSIGN_OR_RETURN(
      Statement insert,
      database_->Prepare("INSERT INTO file_notices(execution, path, about, reason) VALUES(?, ?, ?, ?)"));
  for (const core::FileNotice& notice : notices) {
    insert.Number(sequence).Bytes(notice.path).Text(NameOf(notice.about)).Text(notice.reason);
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
  return FirstOf(ReadExecutions(*database_, find.Text(id)), "execution", id);
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

base::Result<core::ChangesPage> SqliteRecordStore::PageOfChanges(const std::string& execution, std::uint64_t after,
                                                                 std::size_t limit) {
  const Lock lock(mutex_);
  SKERRY_ASSIGN_OR_RETURN(const std::int64_t sequence, SequenceOf(execution));
  SKERRY_ASSIGN_OR_RETURN(Statement list,
                          database_->Prepare(Select("v.number", ", " + std::string(kChangeColumns) +
                                                                    " FROM file_versions v WHERE v.execution = ? AND "
                                                                    "v.number > ? ORDER BY v.number")));
  list.Number(sequence).Number(Saturated(after));
  core::ChangesPage page;
  std::int64_t last = 0;
  for (std::size_t bytes = 0;;) {
    SKERRY_ASSIGN_OR_RETURN(const Row row, list.Step());
    if (row == Row::kNoMore) return page;
    if (page.changes.size() >= limit || bytes >= kMostPathBytes) break;
    last = list.NextNumber();
    SKERRY_ASSIGN_OR_RETURN(core::FileChange change, NextChange(*database_, list));
    bytes += change.path.size();
    page.changes.push_back(std::move(change));
  }
  page.next = static_cast<std::uint64_t>(last);
  return page;
}

base::Result<core::NoticesPage> SqliteRecordStore::PageOfNotices(const std::string& execution,
                                                                 core::FileNotice::About about, std::uint64_t after,
                                                                 std::size_t limit) {
  const Lock lock(mutex_);
  SKERRY_ASSIGN_OR_RETURN(const std::int64_t sequence, SequenceOf(execution));
  SKERRY_ASSIGN_OR_RETURN(Statement list,
                          database_->Prepare("SELECT number, path, reason FROM file_notices WHERE execution = ? AND "
                                             "about = ? AND number > ? ORDER BY number"));
  list.Number(sequence).Text(NameOf(about)).Number(Saturated(after));
  core::NoticesPage page;
  std::int64_t last = 0;
  for (std::size_t bytes = 0;;) {
    SKERRY_ASSIGN_OR_RETURN(const Row row, list.Step());
    if (row == Row::kNoMore) return page;
    if (page.notices.size() >= limit || bytes >= kMostPathBytes) break;
    last = list.NextNumber();
    core::FileNotice notice{.path = list.NextText(), .about = about};
    notice.reason = list.NextText();
    bytes += notice.path.size() + notice.reason.size();
    page.notices.push_back(std::move(notice));
  }
  page.next = static_cast<std::uint64_t>(last);
  return page;
}

base::Result<std::uint64_t> SqliteRecordStore::CountChanges(const std::string& execution) {
  const Lock lock(mutex_);
  SKERRY_ASSIGN_OR_RETURN(const std::int64_t sequence, SequenceOf(execution));
  SKERRY_ASSIGN_OR_RETURN(Statement count,
                          database_->Prepare("SELECT count(*) FROM file_versions WHERE execution = ?"));
  SKERRY_RETURN_IF_ERROR(count.Number(sequence).Step());
  return static_cast<std::uint64_t>(count.NextNumber());
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
                                "WHERE v.session = ? AND v.path = ? ORDER BY v.number DESC LIMIT ?")));
  list.Number(key).Bytes(path).Number(core::kMostVersions);
  SKERRY_ASSIGN_OR_RETURN(auto versions, ReadVersions(*database_, list, kMostCurrentBytes));
  std::ranges::reverse(versions);
  return versions;
}

base::Result<std::vector<core::FileVersion>> SqliteRecordStore::CurrentFiles(const std::string& session) {
  const Lock lock(mutex_);
  SKERRY_ASSIGN_OR_RETURN(const std::int64_t key, SessionKey(session));
  // The index alone gives the last state of each path; only those rows are read. Sorting here is cheaper than in
  // SQLite: the rows come in that order already, which SQLite does not know.
  SKERRY_ASSIGN_OR_RETURN(
      Statement list,
      database_->Prepare(Select(kChangeColumns,
                                ", e.id, e.sequence, ifnull(e.ended_at, e.started_at) FROM "
                                "(SELECT max(number) AS number FROM file_versions WHERE session = ? GROUP BY path) n "
                                "CROSS JOIN file_versions v ON v.number = n.number "
                                "CROSS JOIN executions e ON e.sequence = v.execution WHERE v.action <> 'removed'")));
  SKERRY_ASSIGN_OR_RETURN(auto files, ReadVersions(*database_, list.Number(key), kMostCurrentBytes));
  std::ranges::sort(files, {}, [](const core::FileVersion& file) -> const std::string& { return file.change.path; });
  return files;
}

base::Result<std::uint64_t> SqliteRecordStore::LeftOut(const std::string& session) {
  const Lock lock(mutex_);
  SKERRY_ASSIGN_OR_RETURN(const std::int64_t key, SessionKey(session));
  SKERRY_ASSIGN_OR_RETURN(Statement sum,
                          database_->Prepare("SELECT ifnull(sum(left_out), 0) FROM executions WHERE session = ?"));
  SKERRY_RETURN_IF_ERROR(sum.Number(key).Step());
  return static_cast<std::uint64_t>(sum.NextNumber());
}

base::Result<std::map<std::string, std::uint64_t>> SqliteRecordStore::BytesByTenant() {
  const Lock lock(mutex_);
  SKERRY_ASSIGN_OR_RETURN(Statement sums,
                          database_->Prepare("SELECT tenant, sum(bytes) FROM sessions GROUP BY tenant"));
  return ReadSums(sums);
}

base::Result<std::optional<SqliteRecordStore::Deleted>> SqliteRecordStore::OldestDeleted(const std::string& tenant) {
  SKERRY_ASSIGN_OR_RETURN(Statement oldest, database_->Prepare("SELECT key, bytes FROM sessions WHERE tenant = ? AND "
                                                               "deleted_at IS NOT NULL ORDER BY key LIMIT 1"));
  SKERRY_ASSIGN_OR_RETURN(const Row row, oldest.Text(tenant).Step());
  if (row == Row::kNoMore) return std::nullopt;
  const std::int64_t key = oldest.NextNumber();
  return Deleted{.key = key, .bytes = NextUnsigned(oldest)};
}

base::Result<std::uint64_t> SqliteRecordStore::ForgetDeleted(const std::string& tenant, std::uint64_t bytes) {
  for (std::uint64_t freed = 0;;) {
    if (freed >= bytes) return freed;
    std::unique_lock lock(mutex_);
    SKERRY_ASSIGN_OR_RETURN(const std::optional<Deleted> oldest, OldestDeleted(tenant));
    if (!oldest) return freed;
    for (bool more = true; more;) {
      SKERRY_ASSIGN_OR_RETURN(more, ForgetPiece(*database_, oldest->key));
      // Lets waiting threads have a turn: a lock that is taken again at once is rarely given to another thread.
      lock.unlock();
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      lock.lock();
    }
    SKERRY_ASSIGN_OR_RETURN(Statement remove, database_->Prepare("DELETE FROM sessions WHERE key = ?"));
    SKERRY_RETURN_IF_ERROR(remove.Number(oldest->key).Run());
    freed += std::max<std::uint64_t>(oldest->bytes, 1);
  }
}

base::Status SqliteRecordStore::Check() {
  const Lock lock(mutex_);
  SKERRY_ASSIGN_OR_RETURN(Statement check, database_->Prepare("PRAGMA quick_check(1)"));
  SKERRY_RETURN_IF_ERROR(check.Step());
  if (const std::string said = check.NextText(); said != "ok")
    return std::unexpected(DamagedError(database_->label(), said));
  SKERRY_ASSIGN_OR_RETURN(Statement keys, database_->Prepare("PRAGMA foreign_key_check"));
  SKERRY_ASSIGN_OR_RETURN(const Row row, keys.Step());
  if (row == Row::kNoMore) return {};
  return std::unexpected(DamagedError(database_->label(), "a row of " + keys.NextText() + " belongs to nothing"));
}

}  // namespace skerry::store
