#include "server/storage/sql_store.h"

#include <algorithm>

#include "shared/base/failpoint.h"

namespace gleaner::storage {

// How many ids one write reserves; so many are lost when the server stops.
constexpr std::int64_t ids_per_reservation = 1000;
// More than are given from one note to the next.
constexpr std::int64_t ids_after_loss = 1'000'000;

SqlStore::SqlStore(std::shared_ptr<void> lock, std::unique_ptr<Connection> connection,
                   std::unique_ptr<Connection> reader)
    : lock_(std::move(lock)), connection_(std::move(connection)), reader_(std::move(reader)) {}

Status SqlStore::load_sequences() {
  for (Sequence* sequence : {&unit_ids_, &segment_ids_}) {
    Query query = connection_->query("SELECT next FROM sequences WHERE name = ?");
    TRY_ASSIGN(const bool found, query.add(sequence->name).step());
    std::int64_t next = 1;
    if (found) query.take(next);
    if (next < 1) return connection_->damaged("its unit numbers are wrong");
    sequence->next = sequence->reserved = sequence->durable = next;
  }
  durable_units_ = unit_ids_.durable;
  durable_segments_ = segment_ids_.durable;
  Query query = connection_->query("SELECT next FROM sequences WHERE name = 'generation'");
  TRY_ASSIGN(const bool found, query.step());
  std::int64_t generation = 0;
  if (found) query.take(generation);
  generation_ = generation;
  return {};
}

GenerationNote SqlStore::generation() const {
  return {generation_, durable_units_, durable_segments_, {}};
}

Status SqlStore::go_on_from(const GenerationNote& note) {
  TRY(begin());
  unit_ids_.next = std::max(unit_ids_.next, note.units + ids_after_loss);
  segment_ids_.next = std::max(segment_ids_.next, note.segments + ids_after_loss);
  generation_ = std::max<std::int64_t>(generation_, note.generation);
  return commit();
}

Status SqlStore::checked() {
  if (check_.valid()) check_status_ = check_.get();
  return check_status_;
}

Status SqlStore::begin() {
  return connection_->begin();
}

Status SqlStore::commit() {
  const Status done = [this]() -> Status {
    TRY(write_host_records());
    // Ids whose reservation was rolled back may be in use by now: they must not come again after a restart.
    for (Sequence* sequence : {&unit_ids_, &segment_ids_})
      if (sequence->next > sequence->reserved) TRY(reserve(*sequence));
    if (!connection_->changed()) return {};
    TRY(checked());
    return write_sequence("generation", generation_ + 1);
  }();
  if (!done.ok()) {
    rollback();
    return done;
  }
  const bool counts = connection_->changed();
  Status committed = counts ? failpoint("batch-sync") : Status{};
  if (committed.ok()) committed = connection_->commit();
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

void SqlStore::rollback() {
  connection_->rollback();
  for (Sequence* sequence : {&unit_ids_, &segment_ids_}) sequence->reserved = sequence->durable;
  numbers_.clear();
  records_.clear();
  newest_segment_ = {};
}

Result<std::int64_t> SqlStore::disk_bytes() {
  const std::lock_guard lock(reading_);
  return reader_->disk_bytes();
}

Result<std::optional<std::string>> SqlStore::get_value(const std::string& name) {
  Query query = connection_->find(table_of<NamedValue>());
  query.add(name);
  return first_row(query, [](Query& row) { return std::move(take_row<NamedValue>(row).value); });
}

Status SqlStore::set_value(const std::string& name, const std::string& value) {
  return put<NamedValue>(NamedValue{name, value});
}

Status SqlStore::write_sequence(const char* name, std::int64_t next) {
  return put<SequenceRow>(SequenceRow{name, next});
}

Result<std::int64_t*> SqlStore::next_in_problem(const Table& table, ProblemId problem,
                                                const NumberedTexts& texts) {
  const auto known = numbers_.find({&table, problem});
  if (known != numbers_.end()) return &known->second;
  Query query = connection_->query(texts.last);
  std::int64_t last = 0;
  TRY_ASSIGN(const bool found, query.add(problem).step());
  if (found) query.take(last);
  return &(numbers_[{&table, problem}] = last + 1);
}

Status SqlStore::reserve(Sequence& sequence) {
  const std::int64_t reserved = sequence.next + ids_per_reservation;
  TRY(write_sequence(sequence.name, reserved));
  sequence.reserved = reserved;
  return {};
}

Result<std::int64_t> SqlStore::take_id(Sequence& sequence) {
  if (sequence.next >= sequence.reserved) TRY(reserve(sequence));
  return sequence.next++;
}

Status SqlStore::start_units(UnitId first) {
  if (first.value <= unit_ids_.next) return {};
  unit_ids_.next = first.value;
  return reserve(unit_ids_);
}

Result<UnitId> SqlStore::next_unit() {
  TRY_ASSIGN(const std::int64_t id, take_id(unit_ids_));
  return UnitId{id};
}

}  // namespace gleaner::storage
