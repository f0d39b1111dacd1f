// Stages with their cost hints, and which blobs are still referred to.
#include <algorithm>
#include <bit>
#include <cstring>

#include "server/storage/list_text.h"
#include "server/storage/sqlite_store.h"
#include "shared/crypto/keys.h"
#include "shared/io/compression.h"

namespace gleaner::storage {
namespace {

static_assert(std::endian::native == std::endian::little, "cost hints are stored as little-endian doubles");

std::string_view bytes_of(const std::vector<double>& costs) {
  return {reinterpret_cast<const char*>(costs.data()), costs.size() * sizeof(double)};
}

StageRow read_stage(Query& query) {
  StageRow row;
  query.take_all(row.problem, row.stage, row.name, row.items);
  take_list(query, row.inputs);
  take_list(query, row.set_aside);
  query.take_all(row.enough, row.started_at, row.finished_at, row.units, row.splits, row.recovered,
                 row.copies, row.disputes, row.cost_wasted, row.cost_ahead, row.done_before);
  return row;
}

}  // namespace

Status SqliteStore::put_stage(const StageRow& row) {
  TRY_ASSIGN(const std::string inputs, to_text(row.inputs));
  TRY_ASSIGN(const std::string set_aside, to_text(row.set_aside));
  {
    Query query = database_->query(R"(
INSERT INTO stages (problem, stage, name, items, inputs, set_aside, enough, started_at, finished_at, units, splits,
  recovered, copies, disputes, cost_wasted, cost_ahead, done_before) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT DO UPDATE SET name = excluded.name, items = excluded.items, inputs = excluded.inputs,
  set_aside = excluded.set_aside, enough = excluded.enough, started_at = excluded.started_at,
  finished_at = excluded.finished_at, units = excluded.units, splits = excluded.splits,
  recovered = excluded.recovered, copies = excluded.copies, disputes = excluded.disputes,
  cost_wasted = excluded.cost_wasted, cost_ahead = excluded.cost_ahead, done_before = excluded.done_before)");
    query.add(row.problem)
        .add(row.stage)
        .add(row.name)
        .add(row.items)
        .add(inputs)
        .add(set_aside)
        .add(row.enough);
    query.add(row.started_at).add(row.finished_at).add(row.units).add(row.splits).add(row.recovered);
    query.add(row.copies).add(row.disputes).add(row.cost_wasted).add(row.cost_ahead).add(row.done_before);
    TRY(query.run());
  }
  return put_costs(row);
}

// The hints can be megabytes and never change in practice, while the totals beside them change often: written
// only when their digest differs.
Status SqliteStore::put_costs(const StageRow& row) {
  if (row.costs.empty())
    return database_->query("DELETE FROM stage_costs WHERE problem = ? AND stage = ?")
        .add(row.problem)
        .add(row.stage)
        .run();
  const Bytes digest = crypto::sha256(bytes_of(row.costs));
  {
    Query query =
        database_->query("SELECT 1 FROM stage_costs WHERE problem = ? AND stage = ? AND digest = ?");
    TRY_ASSIGN(const bool same, query.add(row.problem).add(row.stage).add_bytes(digest).step());
    if (same) return {};
  }
  Query query = database_->query(R"(
INSERT INTO stage_costs (problem, stage, digest, count, costs) VALUES (?, ?, ?, ?, ?)
ON CONFLICT DO UPDATE SET digest = excluded.digest, count = excluded.count, costs = excluded.costs)");
  query.add(row.problem).add(row.stage).add_bytes(digest).add(row.costs.size());
  return query.add_bytes(io::compress(bytes_of(row.costs))).run();
}

Result<std::optional<StageRow>> SqliteStore::stage(ProblemId problem, int stage) {
  std::optional<StageRow> row;
  {
    Query query = database_->query(R"(
SELECT problem, stage, name, items, inputs, set_aside, enough, started_at, finished_at, units, splits, recovered, copies,
  disputes, cost_wasted, cost_ahead, done_before FROM stages WHERE problem = ? AND stage = ?)");
    query.add(problem).add(stage);
    TRY_ASSIGN(row, first_row(query, read_stage));
  }
  if (row) TRY(take_costs(*row));
  return row;
}

Status SqliteStore::take_costs(StageRow& row) {
  Query query =
      database_->query("SELECT digest, count, costs FROM stage_costs WHERE problem = ? AND stage = ?");
  TRY_ASSIGN(const bool found, query.add(row.problem).add(row.stage).step());
  if (!found) return {};
  Bytes digest, packed;
  std::int64_t count = 0;
  query.take_all(digest, count, packed);
  // zlib expands at most 1032 times: a count that cannot be true is found before memory is taken for it.
  if (count < 1 || count / 1032 > static_cast<std::int64_t>(packed.size()))
    return database_->damaged("the cost hints of a stage");
  const auto bytes = io::decompress(packed, count * static_cast<std::int64_t>(sizeof(double)));
  if (!bytes.ok() || bytes->size() != static_cast<std::size_t>(count) * sizeof(double) ||
      crypto::sha256(*bytes) != digest)
    return database_->damaged("the cost hints of a stage");
  row.costs.resize(static_cast<std::size_t>(count));
  std::memcpy(row.costs.data(), bytes->data(), bytes->size());
  return {};
}

Result<std::vector<std::string>> SqliteStore::referenced_blobs() {
  std::vector<std::string> digests;
  {
    Query query = database_->query(
        "SELECT digest FROM segments WHERE place = 1 UNION SELECT digest FROM results UNION SELECT archive "
        "FROM "
        "applications");
    TRY_ASSIGN(digests, all_rows(query, [](Query& row) {
                 std::string digest;
                 row.take_digest(digest);
                 return digest;
               }));
  }
  Query query = database_->query("SELECT inputs FROM problems UNION SELECT inputs FROM stages");
  TRY_ASSIGN(const auto lists, all_rows(query, [](Query& row) {
               std::vector<protocol::Input> inputs;
               take_list(row, inputs);
               return inputs;
             }));
  for (const auto& list : lists) {
    for (const auto& input : list) digests.push_back(input.digest);
  }
  std::sort(digests.begin(), digests.end());
  digests.erase(std::unique(digests.begin(), digests.end()), digests.end());
  return digests;
}

}  // namespace gleaner::storage
