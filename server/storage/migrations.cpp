#include "server/storage/migrations.h"

#include <array>

#include "shared/base/failpoint.h"

namespace gleaner::storage {
namespace {

// The defaults are those with which unreleased steps added the columns: every insert names all columns.
// postgres_schema() and the tests need comments without quotes and semicolons.
constexpr const char* first_schema = R"(
PRAGMA application_id = 0x476c6e72;
CREATE TABLE schema_version (version INTEGER PRIMARY KEY, name TEXT NOT NULL) STRICT;
CREATE TABLE named_values (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE sequences (name TEXT PRIMARY KEY, next INTEGER NOT NULL) STRICT, WITHOUT ROWID;

-- Speeds of 0 are not measured, an empty network is not known. The last four columns are about relays.
CREATE TABLE hosts (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  name TEXT NOT NULL,
  public_key BLOB NOT NULL,
  machine TEXT NOT NULL,
  token_digest BLOB NOT NULL UNIQUE,
  platform TEXT NOT NULL,
  cores INTEGER NOT NULL,
  memory_bytes INTEGER NOT NULL,
  client_version TEXT NOT NULL,
  mflops REAL NOT NULL,
  benchmark_at INTEGER NOT NULL,
  state INTEGER NOT NULL,
  state_reason TEXT NOT NULL,
  failures_in_row INTEGER NOT NULL,
  failures INTEGER NOT NULL,
  blocked_until INTEGER NOT NULL,
  blocked_reason TEXT NOT NULL,
  enrolled_at INTEGER NOT NULL,
  last_contact INTEGER NOT NULL,
  items_accepted INTEGER NOT NULL,
  cost_accepted REAL NOT NULL,
  disagreements INTEGER NOT NULL,
  all_cores_mflops REAL NOT NULL DEFAULT 0,
  memory_rate REAL NOT NULL DEFAULT 0,
  download_rate REAL NOT NULL DEFAULT 0,
  upload_rate REAL NOT NULL DEFAULT 0,
  own INTEGER NOT NULL DEFAULT 1,
  code TEXT NOT NULL DEFAULT 'default',
  tags TEXT NOT NULL DEFAULT '[]',
  network TEXT NOT NULL DEFAULT '',
  on_hold TEXT NOT NULL DEFAULT '',
  relay INTEGER NOT NULL DEFAULT 0,
  proved_at INTEGER NOT NULL DEFAULT 0,
  children INTEGER NOT NULL DEFAULT 0,
  tls_key TEXT NOT NULL DEFAULT '',
  UNIQUE (public_key, machine)
) STRICT;

-- An own of 2 left to a setting what the hosts of a code are.
CREATE TABLE codes (
  name TEXT PRIMARY KEY,
  secret_digest BLOB NOT NULL,
  hosts_max INTEGER NOT NULL,
  own INTEGER NOT NULL,
  tags TEXT NOT NULL,
  made_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  withdrawn_at INTEGER NOT NULL,
  children INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;

CREATE TABLE admin_tokens (
  name TEXT PRIMARY KEY,
  digest BLOB NOT NULL,
  role INTEGER NOT NULL,
  made_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  withdrawn_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- The audit log, a chain of digests.
CREATE TABLE acts (
  number INTEGER PRIMARY KEY,
  at INTEGER NOT NULL,
  actor TEXT NOT NULL,
  role TEXT NOT NULL,
  action TEXT NOT NULL,
  object TEXT NOT NULL,
  summary TEXT NOT NULL,
  previous ANY NOT NULL
) STRICT;

CREATE TABLE refusals (
  actor TEXT NOT NULL,
  kind TEXT NOT NULL,
  action TEXT NOT NULL,
  times INTEGER NOT NULL,
  first_at INTEGER NOT NULL,
  last_at INTEGER NOT NULL,
  last_network TEXT NOT NULL,
  PRIMARY KEY (actor, kind, action)
) STRICT, WITHOUT ROWID;

-- The kind is 1 code, 2 key, 3 network.
CREATE TABLE bans (
  kind INTEGER NOT NULL,
  subject TEXT NOT NULL,
  reason TEXT NOT NULL,
  made_by TEXT NOT NULL,
  made_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  PRIMARY KEY (kind, subject)
) STRICT, WITHOUT ROWID;

CREATE TABLE days (
  day INTEGER PRIMARY KEY,
  core_seconds REAL NOT NULL,
  joules REAL NOT NULL,
  items INTEGER NOT NULL
) STRICT;

CREATE TABLE standings (
  host INTEGER NOT NULL,
  application INTEGER NOT NULL,
  right_items REAL NOT NULL,
  wrong_times REAL NOT NULL,
  at INTEGER NOT NULL,
  held_until INTEGER NOT NULL,
  PRIMARY KEY (host, application)
) STRICT, WITHOUT ROWID;

CREATE TABLE applications (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  name TEXT NOT NULL,
  version TEXT NOT NULL,
  archive ANY NOT NULL,
  archive_bytes INTEGER NOT NULL,
  title TEXT NOT NULL,
  platforms TEXT NOT NULL,
  statement_type INTEGER NOT NULL,
  statement_payload TEXT NOT NULL,
  statement_key BLOB NOT NULL,
  statement_signature BLOB NOT NULL,
  signer_type INTEGER NOT NULL,
  signer_payload TEXT NOT NULL,
  signer_key BLOB NOT NULL,
  signer_signature BLOB NOT NULL,
  added_at INTEGER NOT NULL,
  UNIQUE (name, version)
) STRICT;

CREATE TABLE problems (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  name TEXT NOT NULL UNIQUE,
  application INTEGER NOT NULL REFERENCES applications (id),
  parameters TEXT NOT NULL,
  inputs TEXT NOT NULL,
  state INTEGER NOT NULL,
  resume_to INTEGER NOT NULL,
  message TEXT NOT NULL,
  strategy TEXT NOT NULL,
  straggler INTEGER NOT NULL,
  weight REAL NOT NULL,
  priority INTEGER NOT NULL,
  service REAL NOT NULL,
  commit_seconds INTEGER NOT NULL,
  stage INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  started_at INTEGER NOT NULL,
  finished_at INTEGER NOT NULL,
  validation TEXT NOT NULL DEFAULT 'checks'
) STRICT;

CREATE TABLE results (
  problem INTEGER NOT NULL REFERENCES problems (id),
  position INTEGER NOT NULL,
  name TEXT NOT NULL,
  digest ANY NOT NULL,
  bytes INTEGER NOT NULL,
  media_type TEXT NOT NULL,
  PRIMARY KEY (problem, position)
) STRICT, WITHOUT ROWID;

CREATE TABLE stages (
  problem INTEGER NOT NULL REFERENCES problems (id),
  stage INTEGER NOT NULL,
  name TEXT NOT NULL,
  items INTEGER NOT NULL,
  inputs TEXT NOT NULL,
  set_aside TEXT NOT NULL,
  enough INTEGER NOT NULL,
  started_at INTEGER NOT NULL,
  finished_at INTEGER NOT NULL,
  units INTEGER NOT NULL,
  splits INTEGER NOT NULL,
  recovered INTEGER NOT NULL,
  copies INTEGER NOT NULL,
  disputes INTEGER NOT NULL,
  cost_wasted REAL NOT NULL,
  cost_ahead REAL NOT NULL DEFAULT 0,
  done_before REAL NOT NULL DEFAULT 0,
  PRIMARY KEY (problem, stage)
) STRICT, WITHOUT ROWID;

CREATE TABLE stage_costs (
  problem INTEGER NOT NULL,
  stage INTEGER NOT NULL,
  digest BLOB NOT NULL,
  count INTEGER NOT NULL,
  costs BLOB NOT NULL,
  PRIMARY KEY (problem, stage),
  FOREIGN KEY (problem, stage) REFERENCES stages (problem, stage)
) STRICT;

-- A handed_end of 0 is the range_end of now. A begun_by of 0 means that no other host began the first item.
CREATE TABLE units (
  id INTEGER PRIMARY KEY,
  problem INTEGER NOT NULL REFERENCES problems (id),
  stage INTEGER NOT NULL,
  group_unit INTEGER NOT NULL,
  host INTEGER NOT NULL REFERENCES hosts (id),
  slot INTEGER NOT NULL,
  kind INTEGER NOT NULL,
  state INTEGER NOT NULL,
  range_begin INTEGER NOT NULL,
  range_end INTEGER NOT NULL,
  committed INTEGER NOT NULL,
  finished INTEGER NOT NULL,
  run_state INTEGER NOT NULL,
  pause_reason TEXT NOT NULL,
  rate_minute REAL NOT NULL,
  item_seconds REAL NOT NULL,
  running_seconds REAL NOT NULL,
  issued INTEGER NOT NULL,
  last_contact INTEGER NOT NULL,
  deadline INTEGER NOT NULL,
  closed INTEGER NOT NULL,
  cut_unheard INTEGER NOT NULL,
  reason TEXT NOT NULL,
  handed_end INTEGER NOT NULL DEFAULT 0,
  begun_share REAL NOT NULL DEFAULT 0,
  begun_by INTEGER NOT NULL DEFAULT 0
) STRICT;
-- This index finds the last units of a host.
CREATE INDEX units_by_host ON units (host);
-- Only open units (state 1) are looked for by stage. Closed ones need no entry.
CREATE INDEX open_units ON units (problem, stage) WHERE state = 1;

-- The sizing strategy remembers a batch in memory_*. The columns from timed_units on are what units say of
-- the speed of the host (sizing.h).
CREATE TABLE host_records (
  problem INTEGER NOT NULL REFERENCES problems (id),
  stage INTEGER NOT NULL,
  host INTEGER NOT NULL REFERENCES hosts (id),
  performance REAL NOT NULL,
  queue_unloaded REAL NOT NULL,
  queue_current REAL NOT NULL,
  proposed_items REAL NOT NULL,
  slots INTEGER NOT NULL,
  rate REAL NOT NULL,
  measured_seconds REAL NOT NULL,
  interruptions INTEGER NOT NULL,
  on_seconds REAL NOT NULL,
  used_performance REAL NOT NULL,
  current_size INTEGER NOT NULL,
  requests INTEGER NOT NULL,
  returned INTEGER NOT NULL,
  omitted INTEGER NOT NULL,
  last_contact INTEGER NOT NULL,
  units INTEGER NOT NULL,
  items_accepted INTEGER NOT NULL,
  cost_accepted REAL NOT NULL,
  cost_wasted REAL NOT NULL,
  busy_seconds REAL NOT NULL,
  cuts INTEGER NOT NULL,
  copies INTEGER NOT NULL,
  memory_units INTEGER NOT NULL DEFAULT 0,
  memory_base INTEGER NOT NULL DEFAULT 0,
  memory_left INTEGER NOT NULL DEFAULT 0,
  timed_units INTEGER NOT NULL DEFAULT 0,
  weighted_items REAL NOT NULL DEFAULT 0,
  weighted_seconds REAL NOT NULL DEFAULT 0,
  weighted_elapsed REAL NOT NULL DEFAULT 0,
  timed_pieces REAL NOT NULL DEFAULT 0,
  timed_items REAL NOT NULL DEFAULT 0,
  timed_seconds REAL NOT NULL DEFAULT 0,
  timed_squares REAL NOT NULL DEFAULT 0,
  PRIMARY KEY (problem, stage, host)
) STRICT, WITHOUT ROWID;

-- The row is the acknowledgement, too: a commit writes a row less (tests/reports/load.md). An items_accepted
-- of -1 means that a row of acknowledgements has it.
CREATE TABLE segments (
  id INTEGER PRIMARY KEY,
  problem INTEGER NOT NULL REFERENCES problems (id),
  stage INTEGER NOT NULL,
  size_class INTEGER NOT NULL,
  unit INTEGER NOT NULL,
  host INTEGER NOT NULL REFERENCES hosts (id),
  range_begin INTEGER NOT NULL,
  range_end INTEGER NOT NULL,
  digest ANY NOT NULL,
  bytes INTEGER NOT NULL,
  received_at INTEGER NOT NULL,
  compute_seconds REAL NOT NULL,
  place INTEGER NOT NULL DEFAULT 1,
  items_accepted INTEGER NOT NULL DEFAULT -1
) STRICT;
CREATE INDEX segments_by_place ON segments (problem, stage, size_class, range_begin);

-- A small result becomes durable with the row that names it, by one sync for a whole batch.
CREATE TABLE segment_bytes (segment INTEGER PRIMARY KEY, bytes BLOB NOT NULL) STRICT;

CREATE TABLE accepted (
  problem INTEGER NOT NULL REFERENCES problems (id),
  stage INTEGER NOT NULL,
  range_begin INTEGER NOT NULL,
  range_end INTEGER NOT NULL,
  segment INTEGER NOT NULL,
  PRIMARY KEY (problem, stage, range_begin)
) STRICT, WITHOUT ROWID;

CREATE TABLE acknowledgements (
  unit INTEGER NOT NULL,
  host INTEGER NOT NULL,
  range_begin INTEGER NOT NULL,
  range_end INTEGER NOT NULL,
  digest ANY NOT NULL,
  items_accepted INTEGER NOT NULL,
  at INTEGER NOT NULL,
  PRIMARY KEY (unit, host, range_begin, range_end, digest)
) STRICT, WITHOUT ROWID;

CREATE TABLE verdicts (
  problem INTEGER NOT NULL REFERENCES problems (id),
  number INTEGER NOT NULL,
  stage INTEGER NOT NULL,
  range_begin INTEGER NOT NULL,
  range_end INTEGER NOT NULL,
  first_segment INTEGER NOT NULL,
  second_segment INTEGER NOT NULL,
  agree INTEGER NOT NULL,
  wrong_host INTEGER NOT NULL,
  note TEXT NOT NULL,
  at INTEGER NOT NULL,
  PRIMARY KEY (problem, number)
) STRICT, WITHOUT ROWID;

CREATE TABLE failures (
  problem INTEGER NOT NULL REFERENCES problems (id),
  number INTEGER NOT NULL,
  stage INTEGER NOT NULL,
  unit INTEGER NOT NULL,
  host INTEGER NOT NULL,
  kind INTEGER NOT NULL,
  item INTEGER NOT NULL,
  message TEXT NOT NULL,
  at INTEGER NOT NULL,
  PRIMARY KEY (problem, number)
) STRICT, WITHOUT ROWID;

CREATE TABLE decisions (
  problem INTEGER NOT NULL REFERENCES problems (id),
  number INTEGER NOT NULL,
  stage INTEGER NOT NULL,
  at INTEGER NOT NULL,
  host INTEGER NOT NULL,
  unit INTEGER NOT NULL,
  kind TEXT NOT NULL,
  range_begin INTEGER NOT NULL,
  range_end INTEGER NOT NULL,
  reason TEXT NOT NULL,
  PRIMARY KEY (problem, number)
) STRICT, WITHOUT ROWID;

-- A relay keeps in these two tables what it has of its parent (relay_rows.h). Other servers keep them empty.
CREATE TABLE leases (
  unit INTEGER PRIMARY KEY,
  problem INTEGER NOT NULL REFERENCES problems (id),
  stage INTEGER NOT NULL,
  range_begin INTEGER NOT NULL,
  range_end INTEGER NOT NULL,
  handed_end INTEGER NOT NULL,
  deadline INTEGER NOT NULL,
  open INTEGER NOT NULL,
  chain BLOB NOT NULL
) STRICT;

CREATE TABLE deliveries (
  unit INTEGER NOT NULL,
  host INTEGER NOT NULL,
  range_begin INTEGER NOT NULL,
  range_end INTEGER NOT NULL,
  digest ANY NOT NULL,
  via INTEGER NOT NULL,
  segment INTEGER NOT NULL,
  problem INTEGER NOT NULL REFERENCES problems (id),
  stage INTEGER NOT NULL,
  lease INTEGER NOT NULL,
  bytes INTEGER NOT NULL,
  in_store INTEGER NOT NULL,
  compute_seconds REAL NOT NULL,
  statement BLOB NOT NULL,
  acknowledgement BLOB NOT NULL,
  answered_at INTEGER NOT NULL,
  PRIMARY KEY (unit, host, range_begin, range_end, digest)
) STRICT, WITHOUT ROWID;
CREATE INDEX deliveries_by_answer ON deliveries (answered_at);
)";

// What a host said of joining and of failures were one time before, by two clocks.
constexpr const char* failures_said = R"(
ALTER TABLE hosts ADD COLUMN failed_at INTEGER NOT NULL DEFAULT 0;
)";

// So that an administrator who leaves can be followed by what he made.
constexpr const char* makers = R"(
ALTER TABLE admin_tokens ADD COLUMN made_by TEXT NOT NULL DEFAULT '';
ALTER TABLE codes ADD COLUMN made_by TEXT NOT NULL DEFAULT '';
)";

// Codes said of their hosts' results that they are believed, are not, or (2) are as a setting said, which
// said by default that they are. Only the word that was given counts from now on; hosts stay what they are.
constexpr const char* own_codes = R"(
UPDATE codes SET own = 0 WHERE own = 2;
)";

// A problem may go on with a fixed version: which one failed.
constexpr const char* failed_versions = R"(
ALTER TABLE failures ADD COLUMN application TEXT NOT NULL DEFAULT '';
)";

constexpr std::array steps{
    Migration{17, "first schema", first_schema},
    Migration{18, "only a code that says so makes hosts the project's own", own_codes},
    Migration{19, "when a host said last that a kernel failed", failures_said},
    Migration{20, "which admin token made a token or a code", makers},
    Migration{21, "which version of its application a failure is of", failed_versions},
};

}  // namespace

std::span<const Migration> migrations() {
  return steps;
}

Status check_schema(int present, std::span<const Migration> known) {
  const int oldest = known.front().version, newest = known.back().version;
  if (present > newest)
    return Error{ErrorKind::invalid, "the store was written by a newer gleaner-server (schema " +
                                         std::to_string(present) + ", this program knows " +
                                         std::to_string(newest) +
                                         "): install the newer program again, or restore the backup made "
                                         "before it"};
  if (present > 0 && present < oldest)
    return Error{ErrorKind::invalid, "the store has schema " + std::to_string(present) +
                                         " of an unreleased gleaner-server, this program reads schema " +
                                         std::to_string(oldest) + " and newer: nothing was changed"};
  return {};
}

Status migrate(Connection& connection, std::span<const Migration> steps_to_take) {
  TRY_ASSIGN(const int present, connection.schema_version());
  TRY(check_schema(present, steps_to_take));
  for (const Migration& step : steps_to_take) {
    if (step.version <= present) continue;
    TRY(connection.begin());
    const Status done = [&]() -> Status {
      TRY(connection.execute_schema(step.sql));
      TRY(failpoint("migration-step"));
      Query query = connection.query("INSERT INTO schema_version (version, name) VALUES (?, ?)");
      return query.add(step.version).add(step.name).run();
    }();
    if (!done.ok()) {
      connection.rollback();
      return done.error().within("migrating the store to schema " + std::to_string(step.version));
    }
    TRY(connection.commit());
    TRY(failpoint("migration-synced"));
  }
  return {};
}

}  // namespace gleaner::storage
