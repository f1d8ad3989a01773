#include "store/record_rows.hpp"

#include <bit>
#include <chrono>

#include "store/columns.hpp"

namespace skerry::store {
namespace {

using std::chrono::nanoseconds;
using Row = Statement::Row;

base::Result<core::SessionRecord> NextSession(Database& /*database*/, Statement& statement) {
  core::SessionRecord session;
  session.id = statement.NextText();
  session.unique_id = statement.NextText();
  session.tenant = statement.NextText();
  session.created_by = statement.NextText();
  session.created_at = NextTime(statement);
  session.used_at = NextTime(statement);
  session.deleted_at = NextOptionalTime(statement);
  return session;
}

base::Result<core::ExecutionRecord> NextExecution(Database& database, Statement& statement) {
  core::ExecutionRecord execution;
  execution.id = statement.NextText();
  execution.sequence = NextUnsigned(statement);
  execution.session = statement.NextText();
  execution.kind = statement.NextText();
  execution.language = statement.NextText();
  execution.by = statement.NextText();
  execution.sandbox = statement.NextText();
  execution.risk = statement.NextText();
  execution.approval = statement.NextText();
  execution.digest = statement.NextText();
  execution.timeout_seconds = NextUnsigned(statement);
  execution.memory_mb = NextUnsigned(statement);
  execution.caused_by = statement.NextText();
  SKERRY_RETURN_IF_ERROR(NextName(database, statement, core::ParseExecutionState, execution.state));
  execution.outcome = statement.NextText();
  execution.exit_code = static_cast<int>(statement.NextNumber());
  execution.reason = statement.NextText();
  execution.started_at = NextTime(statement);
  execution.ended_at = NextOptionalTime(statement);
  execution.obtain = nanoseconds(statement.NextNumber());
  execution.run = nanoseconds(statement.NextNumber());
  execution.finish = nanoseconds(statement.NextNumber());
  execution.left_out = NextUnsigned(statement);
  execution.what_bytes = NextUnsigned(statement);
  execution.what_sha256 = statement.NextText();
  execution.what = statement.NextText();
  return execution;
}

base::Result<core::FileUse> NextUse(Database& database, Statement& statement) {
  core::FileUse use;
  use.path = statement.NextText();
  SKERRY_RETURN_IF_ERROR(NextName(database, statement, core::ParseHow, use.how));
  use.sha256 = statement.NextText();
  return use;
}

base::Result<core::FileVersion> NextVersion(Database& database, Statement& statement) {
  core::FileVersion version;
  SKERRY_ASSIGN_OR_RETURN(version.change, NextChange(database, statement));
  version.execution = statement.NextText();
  version.sequence = NextUnsigned(statement);
  version.at = NextTime(statement);
  return version;
}

}  // namespace

const std::string_view kSessionColumns =
    "id, CASE WHEN instr(id, '~') THEN id ELSE id || '~' || key END, tenant, created_by, created_at, used_at, "
    "deleted_at";
const std::string_view kExecutionColumns =
    "e.id, e.sequence, s.id, e.kind, e.language, e.asked_by, e.sandbox, e.risk, e.approval, e.digest, "
    "e.timeout_seconds, e.memory_mb, (SELECT cause FROM causes WHERE execution = e.sequence), e.state, e.outcome, "
    "e.exit_code, e.reason, "
    "e.started_at, e.ended_at, e.obtain, e.run, e.finish, e.left_out, e.what_bytes, e.what_sha256, e.what";
const std::string_view kChangeColumns = "v.path, v.action, v.kind, v.size, v.mode, v.sha256";
const std::string_view kUseColumns = "u.path, u.how, u.sha256";

std::string_view Beginning(std::string_view text, std::size_t size) {
  if (text.size() <= size) return text;
  constexpr std::size_t kLongestTail = 3;  // a character has at most three bytes after its first
  for (std::size_t cut = size; cut > 0 && size - cut <= kLongestTail; --cut)
    if ((static_cast<unsigned char>(text[cut]) & 0xC0U) != 0x80U) return text.substr(0, cut);
  return text.substr(0, size);
}

void BindChange(Statement& statement, const core::FileChange& change) {
  statement.Bytes(change.path).Text(NameOf(change.action)).Text(NameOf(change.kind));
  statement.Number(std::bit_cast<std::int64_t>(change.size)).Number(change.mode).Text(change.sha256);
}

void BindUse(Statement& statement, const core::FileUse& use) {
  statement.Bytes(use.path).Text(NameOf(use.how)).Text(use.sha256);
}

base::Result<core::FileChange> NextChange(Database& database, Statement& statement) {
  core::FileChange change;
  change.path = statement.NextText();
  SKERRY_RETURN_IF_ERROR(NextName(database, statement, core::ParseFileAction, change.action));
  SKERRY_RETURN_IF_ERROR(NextName(database, statement, core::ParseFileKind, change.kind));
  change.size = NextUnsigned(statement);
  change.mode = static_cast<std::uint32_t>(statement.NextNumber());
  change.sha256 = statement.NextText();
  return change;
}

base::Result<std::vector<core::SessionRecord>> ReadSessions(Database& database, Statement& statement) {
  return ReadAll(database, statement, NextSession);
}

base::Result<std::vector<core::ExecutionRecord>> ReadExecutions(Database& database, Statement& statement) {
  return ReadAll(database, statement, NextExecution);
}

base::Result<std::vector<core::FileChange>> ReadChanges(Database& database, Statement& statement) {
  return ReadAll(database, statement, NextChange);
}

base::Result<std::vector<core::FileUse>> ReadUses(Database& database, Statement& statement) {
  return ReadAll(database, statement, NextUse);
}

base::Result<std::vector<core::FileVersion>> ReadVersions(Database& database, Statement& statement,
                                                          std::size_t most_bytes) {
  std::vector<core::FileVersion> versions;
  for (std::size_t bytes = 0;;) {
    SKERRY_ASSIGN_OR_RETURN(const Row row, statement.Step());
    if (row == Row::kNoMore) return versions;
    SKERRY_ASSIGN_OR_RETURN(core::FileVersion version, NextVersion(database, statement));
    bytes += version.change.path.size();
    if (bytes > most_bytes)
      return base::Err(base::Code::kTooLarge,
                       "the paths of its files take more than " + std::to_string(most_bytes >> 20U) + " MB");
    versions.push_back(std::move(version));
  }
}

}  // namespace skerry::store
