// Units, what failed on them, and why each was handed out.
#include <algorithm>

#include "server/storage/sqlite_store.h"

namespace gleaner::storage {
namespace {

// Newest rows kept of a problem; pruned once in so many additions.
constexpr std::int64_t decisions_kept = 100'000;
constexpr std::int64_t decisions_between_prunings = 1'000;
constexpr std::int64_t failures_kept = 10'000;
constexpr int failures_shown = 1'000;

policy::Unit read_unit(Query& query) {
  policy::Unit unit;
  query.take_all(unit.id, unit.group, unit.host, unit.slot, unit.kind, unit.state, unit.range, unit.committed,
                 unit.finished, unit.run_state, unit.pause_reason, unit.rate_minute, unit.item_seconds,
                 unit.running_seconds, unit.issued, unit.last_contact, unit.deadline, unit.closed,
                 unit.cut_unheard, unit.reason, unit.handed_end, unit.begun_share, unit.begun_by);
  return unit;
}

Store::UnitPlace read_place(Query& query) {
  Store::UnitPlace place;
  place.unit = read_unit(query);
  query.take_all(place.problem, place.stage);
  return place;
}

FailureRow read_failure(Query& query) {
  FailureRow row;
  query.take_all(row.problem, row.stage, row.unit, row.host, row.kind, row.item, row.message, row.at);
  return row;
}

DecisionRow read_decision(Query& query) {
  DecisionRow row;
  auto& decision = row.decision;
  query.take_all(row.problem, row.stage, decision.at, decision.host, decision.unit, decision.kind,
                 decision.range, decision.reason);
  return row;
}

}  // namespace

Status SqliteStore::put_unit(ProblemId problem, int stage, const policy::Unit& unit) {
  Query query = database_->query(R"(
INSERT INTO units (id, group_unit, host, slot, kind, state, range_begin, range_end, committed, finished, run_state,
  pause_reason, rate_minute, item_seconds, running_seconds, issued, last_contact, deadline, closed, cut_unheard, reason,
  handed_end, begun_share, begun_by, problem, stage)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT DO UPDATE SET group_unit = excluded.group_unit, host = excluded.host, slot = excluded.slot,
  kind = excluded.kind, state = excluded.state, range_begin = excluded.range_begin, range_end = excluded.range_end,
  committed = excluded.committed, finished = excluded.finished, run_state = excluded.run_state,
  pause_reason = excluded.pause_reason, rate_minute = excluded.rate_minute, item_seconds = excluded.item_seconds,
  running_seconds = excluded.running_seconds, issued = excluded.issued, last_contact = excluded.last_contact,
  deadline = excluded.deadline, closed = excluded.closed, cut_unheard = excluded.cut_unheard, reason = excluded.reason,
  handed_end = excluded.handed_end, begun_share = excluded.begun_share, begun_by = excluded.begun_by,
  problem = excluded.problem, stage = excluded.stage)");
  query.add(unit.id)
      .add(unit.group)
      .add(unit.host)
      .add(unit.slot)
      .add(unit.kind)
      .add(unit.state)
      .add(unit.range);
  query.add(unit.committed)
      .add(unit.finished)
      .add(unit.run_state)
      .add(unit.pause_reason)
      .add(unit.rate_minute);
  query.add(unit.item_seconds).add(unit.running_seconds).add(unit.issued).add(unit.last_contact);
  query.add(unit.deadline).add(unit.closed).add(unit.cut_unheard).add(unit.reason).add(unit.handed_end);
  query.add(unit.begun_share).add(unit.begun_by);
  return query.add(problem).add(stage).run();
}

Result<std::vector<policy::Unit>> SqliteStore::open_units(ProblemId problem, int stage) {
  Query query = database_->query(R"(
SELECT id, group_unit, host, slot, kind, state, range_begin, range_end, committed, finished, run_state, pause_reason,
  rate_minute, item_seconds, running_seconds, issued, last_contact, deadline, closed, cut_unheard, reason, handed_end,
  begun_share, begun_by
FROM units WHERE problem = ? AND stage = ? AND state = ? ORDER BY id)");
  query.add(problem).add(stage).add(policy::UnitState::open);
  return all_rows(query, read_unit);
}

Result<std::vector<Store::UnitPlace>> SqliteStore::host_units(HostId host, int count_max) {
  Query query = database_->query(R"(
SELECT id, group_unit, host, slot, kind, state, range_begin, range_end, committed, finished, run_state, pause_reason,
  rate_minute, item_seconds, running_seconds, issued, last_contact, deadline, closed, cut_unheard, reason, handed_end,
  begun_share, begun_by, problem, stage
FROM units WHERE host = ? ORDER BY id DESC LIMIT ?)");
  query.add(host).add(count_max);
  return all_rows(query, read_place);
}

Result<std::optional<Store::UnitPlace>> SqliteStore::unit(UnitId id) {
  Query query = database_->query(R"(
SELECT id, group_unit, host, slot, kind, state, range_begin, range_end, committed, finished, run_state, pause_reason,
  rate_minute, item_seconds, running_seconds, issued, last_contact, deadline, closed, cut_unheard, reason, handed_end,
  begun_share, begun_by, problem, stage
FROM units WHERE id = ?)");
  query.add(id);
  return first_row(query, read_place);
}

Status SqliteStore::add_failure(const FailureRow& row) {
  {
    Query query = database_->query(R"(
INSERT INTO failures (problem, number, stage, unit, host, kind, item, message, at)
VALUES (?1, (SELECT coalesce(max(number), 0) + 1 FROM failures WHERE problem = ?1), ?, ?, ?, ?, ?, ?, ?))");
    query.add(row.problem)
        .add(row.stage)
        .add(row.unit)
        .add(row.host)
        .add(row.kind)
        .add(row.item)
        .add(row.message);
    TRY(query.add(row.at).run());
  }
  return database_
      ->query(R"(
DELETE FROM failures WHERE problem = ?1
  AND number <= (SELECT max(number) FROM failures WHERE problem = ?1) - ?2)")
      .add(row.problem)
      .add(failures_kept)
      .run();
}

Result<std::vector<FailureRow>> SqliteStore::failures(ProblemId problem) {
  Query query = database_->query(R"(
SELECT problem, stage, unit, host, kind, item, message, at FROM failures WHERE problem = ? ORDER BY number DESC LIMIT ?)");
  query.add(problem).add(failures_shown);
  return all_rows(query, read_failure);
}

Result<std::int64_t> SqliteStore::next_decision(ProblemId problem) {
  const auto known = decision_numbers_.find(problem);
  if (known != decision_numbers_.end()) return known->second;
  Query query = database_->query("SELECT coalesce(max(number), 0) FROM decisions WHERE problem = ?");
  std::int64_t last = 0;
  TRY_ASSIGN(const bool found, query.add(problem).step());
  if (found) query.take(last);
  return last + 1;
}

Status SqliteStore::add_decision(const DecisionRow& row) {
  TRY_ASSIGN(const std::int64_t number, next_decision(row.problem));
  {
    Query query = database_->query(R"(
INSERT INTO decisions (problem, number, stage, at, host, unit, kind, range_begin, range_end, reason)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?))");
    const auto& decision = row.decision;
    query.add(row.problem).add(number).add(row.stage).add(decision.at).add(decision.host).add(decision.unit);
    TRY(query.add(decision.kind).add(decision.range).add(decision.reason).run());
  }
  decision_numbers_[row.problem] = number + 1;
  if (number % decisions_between_prunings != 0) return {};
  return database_->query("DELETE FROM decisions WHERE problem = ? AND number <= ?")
      .add(row.problem)
      .add(number - decisions_kept)
      .run();
}

Result<std::vector<DecisionRow>> SqliteStore::decisions(ProblemId problem, int count_max) {
  Query query = database_->query(R"(
SELECT problem, stage, at, host, unit, kind, range_begin, range_end, reason
FROM decisions WHERE problem = ? ORDER BY number DESC LIMIT ?)");
  query.add(problem).add(std::max(count_max, 0));
  return all_rows(query, read_decision);
}

}  // namespace gleaner::storage
