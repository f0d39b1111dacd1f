// Stages with their cost hints, and which blobs are still referred to.
#include <algorithm>
#include <bit>
#include <cstring>

#include "server/storage/sql_store.h"
#include "shared/crypto/keys.h"
#include "shared/io/compression.h"

namespace gleaner::storage {
namespace {

static_assert(std::endian::native == std::endian::little, "cost hints are stored as little-endian doubles");

std::string_view bytes_of(const std::vector<double>& costs) {
  return {reinterpret_cast<const char*>(costs.data()), costs.size() * sizeof(double)};
}

}  // namespace

Status SqlStore::put_stage(const StageRow& row) {
  TRY(put<StageRow>(row));
  return put_costs(row);
}

// The hints can be megabytes and never change in practice, while the totals beside them change often: written
// only when their digest differs.
Status SqlStore::put_costs(const StageRow& row) {
  if (row.costs.empty())
    return connection_->query("DELETE FROM stage_costs WHERE problem = ? AND stage = ?")
        .add(row.problem)
        .add(row.stage)
        .run();
  const Bytes digest = crypto::sha256(bytes_of(row.costs));
  {
    Query query =
        connection_->query("SELECT 1 FROM stage_costs WHERE problem = ? AND stage = ? AND digest = ?");
    TRY_ASSIGN(const bool same, query.add(row.problem).add(row.stage).add_bytes(digest).step());
    if (same) return {};
  }
  Query query = connection_->query(R"(
INSERT INTO stage_costs (problem, stage, digest, count, costs) VALUES (?, ?, ?, ?, ?)
ON CONFLICT (problem, stage) DO UPDATE SET digest = excluded.digest, count = excluded.count, costs = excluded.costs)");
  query.add(row.problem).add(row.stage).add_bytes(digest).add(row.costs.size());
  return query.add_bytes(io::compress(bytes_of(row.costs))).run();
}

Result<std::optional<StageRow>> SqlStore::stage(ProblemId problem, int stage) {
  std::optional<StageRow> row;
  {
    Query query = connection_->find(table_of<StageRow>());
    query.add(problem).add(stage);
    TRY_ASSIGN(row, first_row(query, take_row<StageRow>));
  }
  if (row) TRY(take_costs(*row));
  return row;
}

Status SqlStore::take_costs(StageRow& row) {
  Query query =
      connection_->query("SELECT digest, count, costs FROM stage_costs WHERE problem = ? AND stage = ?");
  TRY_ASSIGN(const bool found, query.add(row.problem).add(row.stage).step());
  if (!found) return {};
  Bytes digest, packed;
  std::int64_t count = 0;
  query.take_all(digest, count, packed);
  // zlib expands at most 1032 times: a count that cannot be true is found before memory is taken for it.
  if (count < 1 || count / 1032 > static_cast<std::int64_t>(packed.size()))
    return connection_->damaged("the cost hints of a stage");
  const auto bytes = io::decompress(packed, count * static_cast<std::int64_t>(sizeof(double)));
  if (!bytes.ok() || bytes->size() != static_cast<std::size_t>(count) * sizeof(double) ||
      crypto::sha256(*bytes) != digest)
    return connection_->damaged("the cost hints of a stage");
  row.costs.resize(static_cast<std::size_t>(count));
  std::memcpy(row.costs.data(), bytes->data(), bytes->size());
  return {};
}

Result<std::vector<std::string>> SqlStore::referenced_blobs() {
  std::vector<std::string> digests;
  {
    Query query = connection_->query(
        "SELECT digest FROM segments WHERE place = 1 UNION SELECT digest FROM results UNION SELECT archive "
        "FROM "
        "applications");
    TRY_ASSIGN(digests, all_rows(query, [](Query& row) {
                 std::string digest;
                 row.take_digest(digest);
                 return digest;
               }));
  }
  Query query = connection_->query("SELECT inputs FROM problems UNION SELECT inputs FROM stages");
  TRY_ASSIGN(const auto lists, all_rows(query, [](Query& row) {
               std::vector<protocol::Input> inputs;
               row.take(AsList{inputs});
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
