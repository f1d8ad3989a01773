#include "store/record_schema.hpp"

#include <array>

namespace skerry::store {
namespace {

// Times are microseconds since 1970 (UTC), durations nanoseconds. Paths are bytes. An unsigned number above 2^63 is
// kept as the negative number of the same bits.
//
// file_versions.number is the order in which states became known. Executions of a session may overlap: the one that
// began first is not always the one that wrote first.
constexpr std::string_view kFirst = R"(
CREATE TABLE sessions(
  key INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  created_by TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  used_at INTEGER NOT NULL,
  deleted_at INTEGER
) STRICT;

CREATE TABLE executions(
  sequence INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  session INTEGER NOT NULL REFERENCES sessions(key) ON DELETE CASCADE,
  kind TEXT NOT NULL,
  language TEXT NOT NULL,
  asked_by TEXT NOT NULL,
  sandbox TEXT NOT NULL,
  risk TEXT NOT NULL,
  approval TEXT NOT NULL,
  timeout_seconds INTEGER NOT NULL,
  memory_mb INTEGER NOT NULL,
  state TEXT NOT NULL DEFAULT 'running' CHECK(state IN ('running', 'done', 'lost')),
  outcome TEXT NOT NULL DEFAULT '',
  exit_code INTEGER NOT NULL DEFAULT 0,
  reason TEXT NOT NULL DEFAULT '',
  started_at INTEGER NOT NULL,
  ended_at INTEGER,
  obtain INTEGER NOT NULL DEFAULT 0,
  run INTEGER NOT NULL DEFAULT 0,
  finish INTEGER NOT NULL DEFAULT 0,
  what_bytes INTEGER NOT NULL,
  what_sha256 TEXT NOT NULL,
  what BLOB NOT NULL
) STRICT;
CREATE INDEX executions_of_session ON executions(session);
CREATE INDEX executions_unfinished ON executions(session) WHERE state = 'running';

CREATE TABLE causes(
  execution INTEGER NOT NULL REFERENCES executions(sequence) ON DELETE CASCADE,
  cause TEXT NOT NULL,
  PRIMARY KEY(execution, cause)
) STRICT, WITHOUT ROWID;

CREATE TABLE file_versions(
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  session INTEGER NOT NULL REFERENCES sessions(key) ON DELETE CASCADE,
  execution INTEGER NOT NULL REFERENCES executions(sequence) ON DELETE CASCADE,
  path BLOB NOT NULL,
  action TEXT NOT NULL CHECK(action IN ('created', 'changed', 'removed')),
  kind TEXT NOT NULL CHECK(kind IN ('file', 'link')),
  size INTEGER NOT NULL,
  mode INTEGER NOT NULL,
  sha256 TEXT NOT NULL
) STRICT;
CREATE INDEX file_versions_of_path ON file_versions(session, path);
CREATE INDEX file_versions_of_execution ON file_versions(execution);

CREATE TABLE file_uses(
  number INTEGER PRIMARY KEY,
  execution INTEGER NOT NULL REFERENCES executions(sequence) ON DELETE CASCADE,
  path BLOB NOT NULL,
  how TEXT NOT NULL CHECK(how IN ('read', 'named')),
  sha256 TEXT NOT NULL
) STRICT;
CREATE INDEX file_uses_of_execution ON file_uses(execution);
)";

// The tables of a daemon. `key` and `sequence` are the order of creation. claims.made is the id of a session or a run.
//
// Most runs are done, and those are never looked up by state: the index of states has only the others. Rows that are
// deleted by their age are found by an index alone.
constexpr std::string_view kService = R"(
CREATE TABLE tokens(
  key INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  name TEXT NOT NULL,
  tenant TEXT NOT NULL,
  scopes TEXT NOT NULL,
  secret_sha256 TEXT NOT NULL UNIQUE,
  requests_per_second INTEGER NOT NULL,
  concurrent_runs INTEGER NOT NULL,
  sessions INTEGER NOT NULL,
  created_by TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  expires_at INTEGER,
  revoked_at INTEGER
) STRICT;

CREATE TABLE hosted_sessions(
  key INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  tenant TEXT NOT NULL,
  settings TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  expires_at INTEGER,
  in_use INTEGER NOT NULL CHECK(in_use IN (0, 1))
) STRICT;

CREATE TABLE runs(
  sequence INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  session TEXT NOT NULL,
  tenant TEXT NOT NULL,
  kind TEXT NOT NULL,
  language TEXT NOT NULL,
  state TEXT NOT NULL CHECK(state IN ('waiting', 'running', 'done', 'lost')),
  created_at INTEGER NOT NULL,
  ended_at INTEGER,
  what TEXT NOT NULL,
  result TEXT NOT NULL DEFAULT '',
  CHECK((ended_at IS NULL) = (state IN ('waiting', 'running')))
) STRICT;
CREATE INDEX runs_of_tenant ON runs(tenant);
CREATE INDEX runs_of_session ON runs(session);
CREATE INDEX runs_not_done ON runs(state) WHERE state <> 'done';
CREATE INDEX runs_by_end ON runs(ended_at) WHERE session = '' AND ended_at IS NOT NULL;

CREATE TABLE claims(
  tenant TEXT NOT NULL,
  key TEXT NOT NULL,
  request_sha256 TEXT NOT NULL,
  made TEXT NOT NULL,
  PRIMARY KEY(tenant, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX claims_of_made ON claims(made);

CREATE TABLE approvals(
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  session TEXT NOT NULL,
  execution TEXT NOT NULL,
  digest TEXT NOT NULL,
  decision TEXT NOT NULL,
  decided_by TEXT NOT NULL,
  reason TEXT NOT NULL,
  asked_at INTEGER NOT NULL,
  decided_at INTEGER
) STRICT;
)";

// For each decision the address of the person, how long it holds, and the tenant.
constexpr std::string_view kDecisions = R"(
ALTER TABLE approvals ADD COLUMN tenant TEXT NOT NULL DEFAULT '';
ALTER TABLE approvals ADD COLUMN decided_from TEXT NOT NULL DEFAULT '';
ALTER TABLE approvals ADD COLUMN scope TEXT NOT NULL DEFAULT '';
CREATE INDEX approvals_of_tenant ON approvals(tenant);
)";

// The tenant of a session, for as long as there is a record of it. For sessions that were deleted before it is unknown.
constexpr std::string_view kTenants = R"(
ALTER TABLE sessions ADD COLUMN tenant TEXT NOT NULL DEFAULT '';
UPDATE sessions SET tenant = ifnull((SELECT tenant FROM hosted_sessions h WHERE h.id = sessions.id), '')
  WHERE deleted_at IS NULL;
CREATE INDEX sessions_of_tenant ON sessions(tenant);
)";

// Summaries of results for lists, beside the results, which a list need not read; and the size of everything. A result
// from before there were summaries may name any number of files; it stays, and its summary has their number. A result
// that does not parse has no summary.
constexpr std::string_view kBounds = R"(
ALTER TABLE executions ADD COLUMN left_out INTEGER NOT NULL DEFAULT 0;
ALTER TABLE sessions ADD COLUMN bytes INTEGER NOT NULL DEFAULT 0;
UPDATE sessions SET bytes =
  ifnull((SELECT sum(600 + length(what)) FROM executions e WHERE e.session = sessions.key), 0) +
  ifnull((SELECT sum(200 + 2 * length(path)) FROM file_versions v WHERE v.session = sessions.key), 0);

CREATE TABLE summaries(
  run INTEGER PRIMARY KEY REFERENCES runs(sequence) ON DELETE CASCADE,
  summary TEXT NOT NULL
) STRICT;
INSERT INTO summaries SELECT sequence, result FROM runs WHERE result <> '' AND length(result) <= 4096;
INSERT INTO summaries SELECT sequence, json_replace(
    json_insert(json_remove(result, '$.stdout', '$.stderr', '$.stdout_base64', '$.stderr_base64', '$.diff', '$.traceback'),
      '$.files_total', json_object(
        'created', ifnull(json_array_length(result, '$.files_created'), 0),
        'changed', ifnull(json_array_length(result, '$.files_changed'), 0),
        'deleted', ifnull(json_array_length(result, '$.files_deleted'), 0),
        'withheld', ifnull(json_array_length(result, '$.files_withheld'), 0),
        'to_review', ifnull(json_array_length(result, '$.files_to_review'), 0))),
    '$.files_created', json('[]'), '$.files_changed', json('[]'), '$.files_deleted', json('[]'),
    '$.files_withheld', json('[]'), '$.files_to_review', json('[]'), '$.outputs', json('[]'), '$.degraded', json('[]'))
  FROM runs WHERE length(result) > 4096 AND json_valid(result);

ALTER TABLE runs ADD COLUMN bytes INTEGER NOT NULL DEFAULT 0;
UPDATE runs SET bytes = 300 + length(CAST(what AS BLOB)) + length(CAST(result AS BLOB)) +
  ifnull((SELECT length(CAST(summary AS BLOB)) FROM summaries WHERE run = sequence), 0);
CREATE INDEX runs_bytes ON runs(tenant, bytes);
)";

// Files of an execution that a person should know of.
constexpr std::string_view kNotices = R"(
CREATE TABLE file_notices(
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  execution INTEGER NOT NULL REFERENCES executions(sequence) ON DELETE CASCADE,
  path BLOB NOT NULL,
  about TEXT NOT NULL CHECK(about IN ('withheld', 'to_review')),
  reason TEXT NOT NULL
) STRICT;
CREATE INDEX file_notices_of_execution ON file_notices(execution);
)";

// What a yes was about.
constexpr std::string_view kDigests = R"(
ALTER TABLE executions ADD COLUMN digest TEXT NOT NULL DEFAULT '';
)";

constexpr std::array kMigrations = {kFirst, kService, kDecisions, kTenants, kBounds, kNotices, kDigests};

}  // namespace

Migrations RecordMigrations() {
  return kMigrations;
}

}  // namespace skerry::store
