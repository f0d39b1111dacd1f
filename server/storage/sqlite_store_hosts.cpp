// Hosts, and what each stage knows of them.
#include <utility>

#include "server/storage/list_text.h"
#include "server/storage/sqlite_store.h"

namespace gleaner::storage {
namespace {

void add_description(Query& query, const HostRow& row, const std::string& tags) {
  query.add(row.name)
      .add(row.platform)
      .add(row.cores)
      .add(row.memory_bytes)
      .add(row.client_version)
      .add(row.mflops);
  query.add(row.benchmark_at).add(row.state).add(row.state_reason);
  query.add(row.health.failures_in_row).add(row.health.failures).add(row.health.blocked_until);
  query.add(row.health.reason).add(row.enrolled_at).add(row.last_contact).add(row.items_accepted);
  query.add(row.cost_accepted).add(row.disagreements);
  query.add(row.speeds.all_cores_mflops).add(row.speeds.memory_bytes_per_second);
  query.add(row.speeds.download_bytes_per_second).add(row.speeds.upload_bytes_per_second).add(row.own);
  query.add(row.code).add(tags).add(row.network).add(row.on_hold);
}

void add_identity(Query& query, const HostRow& row) {
  query.add_bytes(row.public_key).add(row.machine).add_bytes(row.token_digest);
}

HostRow read_host(Query& query) {
  HostRow row;
  query.take_all(row.id, row.name, row.platform, row.cores, row.memory_bytes, row.client_version, row.mflops,
                 row.benchmark_at, row.state, row.state_reason, row.health.failures_in_row,
                 row.health.failures, row.health.blocked_until, row.health.reason, row.enrolled_at,
                 row.last_contact, row.items_accepted, row.cost_accepted, row.disagreements,
                 row.speeds.all_cores_mflops, row.speeds.memory_bytes_per_second,
                 row.speeds.download_bytes_per_second, row.speeds.upload_bytes_per_second, row.own, row.code);
  take_list(query, row.tags);
  query.take_all(row.network, row.on_hold, row.public_key, row.machine, row.token_digest);
  return row;
}

policy::HostRecord read_record(Query& query) {
  policy::HostRecord record;
  query.take_all(record.host, record.performance, record.queue_unloaded, record.queue_current,
                 record.proposed_items, record.slots, record.rate, record.measured_seconds,
                 record.interruptions, record.on_seconds, record.used_performance, record.current_size,
                 record.requests, record.returned, record.omitted, record.last_contact, record.units,
                 record.items_accepted, record.cost_accepted, record.cost_wasted, record.busy_seconds,
                 record.cuts, record.copies, record.memory.units, record.memory.base, record.memory.left,
                 record.times.units, record.times.weighted_items, record.times.weighted_seconds,
                 record.times.weighted_elapsed, record.times.pieces, record.times.items, record.times.seconds,
                 record.times.squares);
  return record;
}

}  // namespace

Result<HostId> SqliteStore::add_host(const HostRow& row) {
  TRY_ASSIGN(const std::string tags, to_text(row.tags));
  Query query = database_->query(R"(
INSERT INTO hosts (name, platform, cores, memory_bytes, client_version, mflops, benchmark_at, state, state_reason,
  failures_in_row, failures, blocked_until, blocked_reason, enrolled_at, last_contact, items_accepted, cost_accepted,
  disagreements, all_cores_mflops, memory_rate, download_rate, upload_rate, own, code, tags, network, on_hold, public_key, machine, token_digest)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?))");
  add_description(query, row, tags);
  add_identity(query, row);
  TRY(query.run());
  return HostId{database_->last_id()};
}

Status SqliteStore::update_host(const HostRow& row) {
  TRY_ASSIGN(const std::string tags, to_text(row.tags));
  {
    // Mostly the identity stays: its two indexes are left alone then.
    Query query = database_->query(R"(
UPDATE hosts SET (name, platform, cores, memory_bytes, client_version, mflops, benchmark_at, state, state_reason,
  failures_in_row, failures, blocked_until, blocked_reason, enrolled_at, last_contact, items_accepted, cost_accepted,
  disagreements, all_cores_mflops, memory_rate, download_rate, upload_rate, own, code, tags, network, on_hold) = (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
WHERE public_key = ? AND machine = ? AND token_digest = ? AND id = ?)");
    add_description(query, row, tags);
    add_identity(query, row);
    TRY(query.add(row.id).run());
    if (database_->changes() > 0) return {};
  }
  Query query = database_->query(R"(
UPDATE hosts SET (name, platform, cores, memory_bytes, client_version, mflops, benchmark_at, state, state_reason,
  failures_in_row, failures, blocked_until, blocked_reason, enrolled_at, last_contact, items_accepted, cost_accepted,
  disagreements, all_cores_mflops, memory_rate, download_rate, upload_rate, own, code, tags, network, on_hold, public_key, machine, token_digest) =
  (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) WHERE id = ?)");
  add_description(query, row, tags);
  add_identity(query, row);
  TRY(query.add(row.id).run());
  if (database_->changes() == 0)
    return Error{ErrorKind::not_found, "there is no host " + std::to_string(row.id.value)};
  return {};
}

Status SqliteStore::visit_hosts(const std::function<void(HostRow&&)>& visit) {
  Query query = database_->query(R"(
SELECT id, name, platform, cores, memory_bytes, client_version, mflops, benchmark_at, state, state_reason,
  failures_in_row, failures, blocked_until, blocked_reason, enrolled_at, last_contact, items_accepted, cost_accepted,
  disagreements, all_cores_mflops, memory_rate, download_rate, upload_rate, own, code, tags, network, on_hold, public_key, machine, token_digest FROM hosts ORDER BY id)");
  while (true) {
    TRY_ASSIGN(const bool found, query.step());
    if (!found) return {};
    HostRow row = read_host(query);
    TRY(query.checked());
    visit(std::move(row));
  }
}

Status SqliteStore::put_standing(HostId host, ApplicationId application, const policy::Standing& standing) {
  Query query = database_->query(R"(
INSERT INTO standings (host, application, right_items, wrong_times, at, held_until) VALUES (?, ?, ?, ?, ?, ?)
ON CONFLICT DO UPDATE SET right_items = excluded.right_items, wrong_times = excluded.wrong_times, at = excluded.at,
  held_until = excluded.held_until)");
  query.add(host).add(application).add(standing.right).add(standing.wrong);
  return query.add(standing.at).add(standing.held_until).run();
}

Result<std::vector<StandingRow>> SqliteStore::standings() {
  Query query = database_->query(
      "SELECT host, application, right_items, wrong_times, at, held_until FROM standings ORDER BY host, "
      "application");
  return all_rows(query, [](Query& each) {
    StandingRow row;
    each.take_all(row.host, row.application, row.standing.right, row.standing.wrong, row.standing.at,
                  row.standing.held_until);
    return row;
  });
}

Status SqliteStore::put_host_record(ProblemId problem, int stage, const policy::HostRecord& record) {
  TRY(database_->may_write());
  records_.insert_or_assign({problem, stage, record.host}, record);
  return {};
}

Status SqliteStore::write_host_records() {
  for (const auto& [key, record] : std::exchange(records_, {}))
    TRY(write_host_record(std::get<ProblemId>(key), std::get<int>(key), record));
  return {};
}

Status SqliteStore::write_host_record(ProblemId problem, int stage, const policy::HostRecord& record) {
  Query query = database_->query(R"(
INSERT INTO host_records (problem, stage, host, performance, queue_unloaded, queue_current, proposed_items, slots, rate,
  measured_seconds, interruptions, on_seconds, used_performance, current_size, requests, returned, omitted, last_contact,
  units, items_accepted, cost_accepted, cost_wasted, busy_seconds, cuts, copies, memory_units, memory_base, memory_left, timed_units, weighted_items, weighted_seconds,
  weighted_elapsed, timed_pieces, timed_items, timed_seconds, timed_squares)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT DO UPDATE SET performance = excluded.performance, queue_unloaded = excluded.queue_unloaded,
  queue_current = excluded.queue_current, proposed_items = excluded.proposed_items, slots = excluded.slots,
  rate = excluded.rate, measured_seconds = excluded.measured_seconds, interruptions = excluded.interruptions,
  on_seconds = excluded.on_seconds, used_performance = excluded.used_performance, current_size = excluded.current_size,
  requests = excluded.requests, returned = excluded.returned, omitted = excluded.omitted,
  last_contact = excluded.last_contact, units = excluded.units, items_accepted = excluded.items_accepted,
  cost_accepted = excluded.cost_accepted, cost_wasted = excluded.cost_wasted, busy_seconds = excluded.busy_seconds,
  cuts = excluded.cuts, copies = excluded.copies,
  memory_units = excluded.memory_units, memory_base = excluded.memory_base, memory_left = excluded.memory_left,
  timed_units = excluded.timed_units, weighted_items = excluded.weighted_items, weighted_seconds = excluded.weighted_seconds,
  weighted_elapsed = excluded.weighted_elapsed, timed_pieces = excluded.timed_pieces, timed_items = excluded.timed_items,
  timed_seconds = excluded.timed_seconds, timed_squares = excluded.timed_squares)");
  query.add(problem).add(stage).add(record.host).add(record.performance).add(record.queue_unloaded);
  query.add(record.queue_current).add(record.proposed_items).add(record.slots).add(record.rate);
  query.add(record.measured_seconds)
      .add(record.interruptions)
      .add(record.on_seconds)
      .add(record.used_performance);
  query.add(record.current_size).add(record.requests).add(record.returned).add(record.omitted);
  query.add(record.last_contact).add(record.units).add(record.items_accepted).add(record.cost_accepted);
  query.add(record.cost_wasted).add(record.busy_seconds).add(record.cuts).add(record.copies);
  query.add(record.memory.units).add(record.memory.base).add(record.memory.left);
  const policy::WorkTimes& times = record.times;
  query.add(times.units).add(times.weighted_items).add(times.weighted_seconds).add(times.weighted_elapsed);
  query.add(times.pieces).add(times.items).add(times.seconds).add(times.squares);
  return query.run();
}

Result<std::vector<policy::HostRecord>> SqliteStore::host_records(ProblemId problem, int stage) {
  TRY(write_host_records());
  Query query = database_->query(R"(
SELECT host, performance, queue_unloaded, queue_current, proposed_items, slots, rate, measured_seconds, interruptions,
  on_seconds, used_performance, current_size, requests, returned, omitted, last_contact, units, items_accepted,
  cost_accepted, cost_wasted, busy_seconds, cuts, copies, memory_units, memory_base, memory_left, timed_units, weighted_items, weighted_seconds,
  weighted_elapsed, timed_pieces, timed_items, timed_seconds, timed_squares FROM host_records WHERE problem = ? AND stage = ? ORDER BY host)");
  query.add(problem).add(stage);
  return all_rows(query, read_record);
}

}  // namespace gleaner::storage
