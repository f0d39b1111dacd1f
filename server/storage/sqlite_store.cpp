#include "server/storage/sqlite_store.h"

#include <algorithm>

#include "shared/base/failpoint.h"

namespace gleaner::storage {

// How many ids one write reserves; so many are lost when the server stops.
constexpr std::int64_t ids_per_reservation = 1000;
// More than are given from one note to the next.
constexpr std::int64_t ids_after_loss = 1'000'000;

SqliteStore::SqliteStore(std::unique_ptr<DirectoryLock> lock, std::unique_ptr<Database> database,
                         std::unique_ptr<Database> reader)
    : lock_(std::move(lock)), database_(std::move(database)), reader_(std::move(reader)) {}

Status SqliteStore::load_sequences() {
  for (Sequence* sequence : {&unit_ids_, &segment_ids_}) {
    Query query = database_->query("SELECT next FROM sequences WHERE name = ?");
    TRY_ASSIGN(const bool found, query.add(sequence->name).step());
    std::int64_t next = 1;
    if (found) query.take(next);
    if (next < 1) return database_->damaged("its unit numbers are wrong");
    sequence->next = sequence->reserved = sequence->durable = next;
  }
  durable_units_ = unit_ids_.durable;
  durable_segments_ = segment_ids_.durable;
  Query query = database_->query("SELECT next FROM sequences WHERE name = 'generation'");
  TRY_ASSIGN(const bool found, query.step());
  std::int64_t generation = 0;
  if (found) query.take(generation);
  generation_ = generation;
  return {};
}

GenerationNote SqliteStore::generation() const {
  return {generation_, durable_units_, durable_segments_, {}};
}

Status SqliteStore::go_on_from(const GenerationNote& note) {
  TRY(begin());
  unit_ids_.next = std::max(unit_ids_.next, note.units + ids_after_loss);
  segment_ids_.next = std::max(segment_ids_.next, note.segments + ids_after_loss);
  generation_ = std::max<std::int64_t>(generation_, note.generation);
  return commit();
}

Status SqliteStore::begin() {
  changes_before_ = database_->total_changes();
  return database_->begin();
}

Status SqliteStore::commit() {
  const Status done = [this]() -> Status {
    TRY(write_host_records());
    // Ids whose reservation was rolled back may be in use by now: they must not come again after a restart.
    for (Sequence* sequence : {&unit_ids_, &segment_ids_})
      if (sequence->next > sequence->reserved) TRY(reserve(*sequence));
    if (!changed()) return {};
    return write_sequence("generation", generation_ + 1);
  }();
  if (!done.ok()) {
    rollback();
    return done;
  }
  const bool counts = changed();
  Status committed = counts ? failpoint("batch-sync") : Status{};
  if (committed.ok()) committed = database_->commit();
  if (!committed.ok()) {
    rollback();
    return committed;
  }
  for (Sequence* sequence : {&unit_ids_, &segment_ids_}) sequence->durable = sequence->reserved;
  durable_units_ = unit_ids_.durable;
  durable_segments_ = segment_ids_.durable;
  newest_segment_ = {};
  if (counts) {
    ++generation_;
    (void)failpoint("batch-synced");
  }
  return {};
}

void SqliteStore::rollback() {
  database_->rollback();
  for (Sequence* sequence : {&unit_ids_, &segment_ids_}) sequence->reserved = sequence->durable;
  decision_numbers_.clear();
  records_.clear();
  newest_segment_ = {};
}

Result<std::optional<std::string>> SqliteStore::get_value(const std::string& name) {
  Query query = database_->query("SELECT value FROM named_values WHERE name = ?");
  query.add(name);
  return first_row(query, [](Query& row) {
    std::string value;
    row.take(value);
    return value;
  });
}

Status SqliteStore::set_value(const std::string& name, const std::string& value) {
  Query query = database_->query(
      "INSERT INTO named_values (name, value) VALUES (?, ?) ON CONFLICT DO UPDATE SET value = "
      "excluded.value");
  return query.add(name).add(value).run();
}

bool SqliteStore::changed() const {
  return database_->total_changes() != changes_before_;
}

Status SqliteStore::write_sequence(const char* name, std::int64_t next) {
  Query query = database_->query(
      "INSERT INTO sequences (name, next) VALUES (?, ?) ON CONFLICT DO UPDATE SET next = excluded.next");
  return query.add(name).add(next).run();
}

Status SqliteStore::reserve(Sequence& sequence) {
  const std::int64_t reserved = sequence.next + ids_per_reservation;
  TRY(write_sequence(sequence.name, reserved));
  sequence.reserved = reserved;
  return {};
}

Result<std::int64_t> SqliteStore::take_id(Sequence& sequence) {
  if (sequence.next >= sequence.reserved) TRY(reserve(sequence));
  return sequence.next++;
}

Result<UnitId> SqliteStore::next_unit() {
  TRY_ASSIGN(const std::int64_t id, take_id(unit_ids_));
  return UnitId{id};
}

}  // namespace gleaner::storage
