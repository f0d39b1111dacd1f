// Stores of earlier schemas, as a server of schema 17 would have filled them.
#pragma once

#include "server/storage/migrations.h"
#include "tests/unit/storage/fixture.h"

namespace gleaner::storage::testing {

inline constexpr const char* rows_of_schema_17 = R"(
INSERT INTO named_values VALUES ('project', 'abc');
INSERT INTO sequences VALUES ('unit', 1001), ('segment', 1001);
INSERT INTO hosts (id, name, public_key, machine, token_digest, platform, cores, memory_bytes, client_version, mflops,
  benchmark_at, state, state_reason, failures_in_row, failures, blocked_until, blocked_reason, enrolled_at,
  last_contact, items_accepted, cost_accepted, disagreements)
VALUES (1, 'host', x'01', 'machine', x'02', 'x86_64-linux', 4, 1024, '0.1', 12.5, 1, 1, '', 0, 0, 0, '', 2, 3, 10,
  10.5, 0);
INSERT INTO applications VALUES (1, 'app', '1', x'aa', 5, 'title', '["x86_64-linux"]', 4, '{}', x'01', x'02', 2, '{}',
  x'03', x'04', 7);
INSERT INTO problems (id, name, application, parameters, inputs, state, resume_to, message, strategy, straggler, weight,
  priority, service, commit_seconds, stage, created_at, started_at, finished_at)
VALUES (1, 'problem', 1, '{}', '[]', 2, 2, '', 'wis', 3, 1, 0, 0, 60, 0, 1, 2, 0);
INSERT INTO stages (problem, stage, name, items, inputs, set_aside, enough, started_at, finished_at, units, splits,
  recovered, copies, disputes, cost_wasted) VALUES (1, 0, 'stage', 100, '[]', '[[3,4]]', 0, 1, 0, 1, 0, 0, 0, 0, 0);
INSERT INTO units (id, problem, stage, group_unit, host, slot, kind, state, range_begin, range_end, committed, finished,
  run_state, pause_reason, rate_minute, item_seconds, running_seconds, issued, last_contact, deadline, closed,
  cut_unheard, reason) VALUES (17, 1, 0, 17, 1, 0, 1, 1, 0, 50, 10, 12, 1, '', 1.5, 0, 8, 1, 2, 3, 0, 0, 'why');
INSERT INTO host_records (problem, stage, host, performance, queue_unloaded, queue_current, proposed_items, slots, rate,
  measured_seconds, interruptions, on_seconds, used_performance, current_size, requests, returned, omitted,
  last_contact, units, items_accepted, cost_accepted, cost_wasted, busy_seconds, cuts, copies)
VALUES (1, 0, 1, 12.5, 1, 1, 0, 4, 1.5, 60, 0, 60, 0, 50, 1, 0, 0, 2, 1, 10, 10.5, 0, 8, 0, 0);
INSERT INTO segments (id, problem, stage, size_class, unit, host, range_begin, range_end, digest, bytes, received_at,
  compute_seconds) VALUES (5, 1, 0, 3, 17, 1, 0, 10, x'bb', 100, 9, 8.5);
INSERT INTO accepted VALUES (1, 0, 0, 10, 5);
INSERT INTO acknowledgements VALUES (17, 1, 0, 10, x'bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb', 8, 9);
INSERT INTO decisions VALUES (1, 1, 0, 1, 1, 17, 'fresh', 0, 50, 'why');
INSERT INTO codes VALUES ('default', x'01', 0, 2, '[]', 1, 0, 0, 0), ('lab', x'02', 0, 1, '["fast"]', 1, 0, 0, 0),
  ('web', x'03', 0, 0, '[]', 1, 0, 0, 0);
INSERT INTO admin_tokens VALUES ('anna', x'0a', 3, 1, 0, 0);
INSERT INTO standings VALUES (1, 1, 2.5, 0, 4, 0);
INSERT INTO segment_bytes VALUES (6, x'c0ffee');
INSERT INTO bans VALUES (3, '192.0.2.1', 'why', 'anna', 1, 0);
INSERT INTO days VALUES (20000, 60.5, 7.5, 10);
INSERT INTO leases VALUES (17, 1, 0, 0, 50, 50, 3, 1, x'7b7d');
)";

// Numbers are never reused, and one that was given to a step elsewhere may be missing here.
inline int schema_after(int steps) {
  return migrations()[static_cast<std::size_t>(steps - 1)].version;
}

// After the first `steps`, by the engine under test; SQLite's file is whole when this returns.
inline void make_old_store(const io::Path& directory, int steps) {
  const auto connection = connect(directory);
  must(migrate(*connection, migrations().first(1)));
  must(connection->execute_schema(rows_of_schema_17));
  must(migrate(*connection, migrations().first(static_cast<std::size_t>(steps))));
  CHECK(must(connection->schema_version()) == schema_after(steps));
}

// How many there are.
inline int newest() {
  return static_cast<int>(migrations().size());
}

}  // namespace gleaner::storage::testing
