#include "server/storage/sqlite_store.h"

namespace gleaner::storage {

// How many ids one write reserves; so many are lost when the server stops.
constexpr std::int64_t ids_per_reservation = 1000;

SqliteStore::SqliteStore(std::unique_ptr<DirectoryLock> lock, std::unique_ptr<Database> database)
    : lock_(std::move(lock)), database_(std::move(database)) {}

Status SqliteStore::load_sequences() {
  for (Sequence* sequence : {&unit_ids_, &segment_ids_}) {
    Query query = database_->query("SELECT next FROM sequences WHERE name = ?");
    TRY_ASSIGN(const bool found, query.add(sequence->name).step());
    std::int64_t next = 1;
    if (found) query.take(next);
    if (next < 1) return database_->damaged("its unit numbers are wrong");
    sequence->next = sequence->reserved = sequence->durable = next;
  }
  return {};
}

Status SqliteStore::begin() {
  return database_->begin();
}

Status SqliteStore::commit() {
  const Status done = [this]() -> Status {
    // Ids whose reservation was rolled back may be in use by now: they must not come again after a restart.
    for (Sequence* sequence : {&unit_ids_, &segment_ids_})
      if (sequence->next > sequence->reserved) TRY(reserve(*sequence));
    return {};
  }();
  if (!done.ok()) {
    rollback();
    return done;
  }
  const Status committed = database_->commit();
  if (!committed.ok()) {
    rollback();
    return committed;
  }
  for (Sequence* sequence : {&unit_ids_, &segment_ids_}) sequence->durable = sequence->reserved;
  return {};
}

void SqliteStore::rollback() {
  database_->rollback();
  for (Sequence* sequence : {&unit_ids_, &segment_ids_}) sequence->reserved = sequence->durable;
  decision_numbers_.clear();
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

Status SqliteStore::reserve(Sequence& sequence) {
  const std::int64_t reserved = sequence.next + ids_per_reservation;
  Query query = database_->query(
      "INSERT INTO sequences (name, next) VALUES (?, ?) ON CONFLICT DO UPDATE SET next = excluded.next");
  TRY(query.add(sequence.name).add(reserved).run());
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
