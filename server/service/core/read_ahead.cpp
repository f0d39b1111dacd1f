#include "server/service/core/read_ahead.h"

#include <utility>

#include "server/service/core/model.h"
#include "server/service/core/relay_rows.h"
#include "shared/base/thread_name.h"

namespace gleaner::service {
namespace {
constexpr std::size_t batch_hosts = 512;
constexpr std::size_t batches_max = 64;  // some 30 MB
}  // namespace

Result<policy::RestoreEvent> read_stage(storage::Store& store, const storage::StageRow& row) {
  policy::RestoreEvent stored;
  TRY_ASSIGN(const auto accepted, store.accepted(row.problem, row.stage));
  stored.accepted.reserve(accepted.size());
  for (const auto& piece : accepted) stored.accepted.push_back(piece.range);
  TRY_ASSIGN(stored.units, store.open_units(row.problem, row.stage));
  TRY_ASSIGN(stored.hosts, store.host_records(row.problem, row.stage));
  TRY_ASSIGN(stored.leased, leased_ranges(store, row));
  stored.set_aside = row.set_aside;
  if (stored.set_aside.empty()) return stored;
  // What was disputed to the end: nothing that is set aside for another reason has an open verdict.
  TRY_ASSIGN(const auto verdicts, store.verdicts(row.problem));
  RangeSet open;
  for (const auto& verdict : verdicts) {
    if (verdict.stage != row.stage) continue;
    if (!verdict.agree && !verdict.wrong_host.valid()) {
      open.add(verdict.range);
    } else {
      open.remove(verdict.range);
    }
  }
  stored.undecided = open.ranges();
  return stored;
}

ReadAhead::ReadAhead(storage::Store& store, const std::vector<storage::ProblemRow>& problems)
    : thread_([this, &store, problems] {
        name_this_thread("reader");
        const Status status = read(store, problems);
        const std::lock_guard lock(mutex_);
        status_ = status;
        read_ = Read::all;
        changed_.notify_all();
      }) {}

ReadAhead::~ReadAhead() {
  {
    const std::lock_guard lock(mutex_);
    unwanted_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

std::vector<storage::HostRow> ReadAhead::next_hosts() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return read_ >= Read::hosts || !batches_.empty(); });
  if (batches_.empty()) return {};
  Batch batch = std::move(batches_.front());
  batches_.pop_front();
  changed_.notify_all();
  return batch;
}

Result<std::map<ProblemId, policy::RestoreEvent>> ReadAhead::stages() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return read_ >= Read::stages; });
  TRY(status_);
  return std::move(stages_);
}

Result<std::vector<storage::StandingRow>> ReadAhead::standings() {
  thread_.join();
  TRY(status_);
  return std::move(standings_);
}

void ReadAhead::note(Read read) {
  const std::lock_guard lock(mutex_);
  read_ = read;
  changed_.notify_all();
}

Status ReadAhead::read(storage::Store& store, const std::vector<storage::ProblemRow>& problems) {
  std::map<ProblemId, policy::RestoreEvent> stages;
  for (const auto& problem : problems) {
    if (over(problem.state)) continue;
    TRY_ASSIGN(const auto row, store.stage(problem.id, problem.stage));
    if (!row || row->finished_at != Timestamp{}) continue;
    TRY_ASSIGN(stages[problem.id], read_stage(store, *row));
  }
  {
    const std::lock_guard lock(mutex_);
    stages_ = std::move(stages);
  }
  note(Read::stages);
  TRY(read_hosts(store));
  note(Read::hosts);
  TRY_ASSIGN(auto standings, store.standings());
  const std::lock_guard lock(mutex_);
  standings_ = std::move(standings);
  return {};
}

Status ReadAhead::read_hosts(storage::Store& store) {
  Batch batch;
  bool wanted = true;
  TRY(store.visit_hosts([&](storage::HostRow&& row) {
    if (!wanted) return;
    batch.push_back(std::move(row));
    if (batch.size() == batch_hosts) wanted = put(std::exchange(batch, {}));
  }));
  if (wanted && !batch.empty()) (void)put(std::move(batch));
  return {};
}

bool ReadAhead::put(Batch batch) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return unwanted_ || batches_.size() < batches_max; });
  if (unwanted_) return false;
  batches_.push_back(std::move(batch));
  changed_.notify_all();
  return true;
}

}  // namespace gleaner::service
