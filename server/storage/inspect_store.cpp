#include "server/storage/inspect_store.h"

#include "server/storage/migrations.h"
#include "server/storage/sqlite.h"
#include "shared/crypto/keys.h"

namespace gleaner::storage {
namespace {

using protocol::ProblemState;

constexpr int kept_segments_schema = 9;  // the first with segments in the store

// Rows of queries here name columns of the first schema alone, where nothing else is said.
template <typename Use>
Status for_each(Database& database, std::string_view sql, Use use) {
  Query query = database.query(sql);
  while (true) {
    TRY_ASSIGN(const bool found, query.step());
    if (!found) return {};
    use(query);
    TRY(query.checked());
  }
}

Status find_breaks(Database& database, StoreInspection& store) {
  TRY(for_each(database, "PRAGMA integrity_check(100)", [&](Query& row) {
    std::string line;
    row.take(line);
    if (line != "ok") store.broken.push_back(line);
  }));
  return for_each(database, "PRAGMA foreign_key_check", [&](Query& row) {
    std::string table, parent;
    std::int64_t number = 0;
    row.take(table), row.take(number), row.take(parent);
    ++store.strays[{table, parent}];
  });
}

Status read_sequences(Database& database, StoreInspection& store) {
  return for_each(database, "SELECT name, next FROM sequences", [&](Query& row) {
    std::string name;
    std::int64_t next = 0;
    row.take_all(name, next);
    if (name == "generation") store.present.generation = next;
    if (name == "unit") store.present.units = next;
    if (name == "segment") store.present.segments = next;
  });
}

Status read_problems(Database& database, StoreInspection& store) {
  TRY(for_each(database, R"(
SELECT p.id, p.name, p.state, p.resume_to, p.stage,
  coalesce((SELECT s.items FROM stages s WHERE s.problem = p.id AND s.stage = p.stage), -1),
  (SELECT coalesce(sum(a.range_end - a.range_begin), 0) FROM accepted a WHERE a.problem = p.id AND a.stage = p.stage),
  (SELECT count(*) FROM segments g WHERE g.problem = p.id AND g.stage = p.stage)
FROM problems p)",
               [&](Query& row) {
                 ProblemId id;
                 InspectedProblem problem;
                 row.take_all(id, problem.name, problem.state, problem.resume_to, problem.stage,
                              problem.items, problem.accepted, problem.segments);
                 store.problems[id] = std::move(problem);
               }));
  return for_each(database, "SELECT count(*) FROM hosts", [&](Query& row) { row.take(store.hosts); });
}

Status find_gaps(Database& database, StoreInspection& store) {
  TRY(for_each(database, R"(
SELECT a.problem, a.stage, a.range_begin, a.range_end FROM accepted a
LEFT JOIN segments s ON s.id = a.segment AND s.problem = a.problem AND s.stage = a.stage
  AND s.range_begin <= a.range_begin AND s.range_end >= a.range_end
WHERE s.id IS NULL ORDER BY a.problem, a.stage, a.range_begin)",
               [&](Query& row) {
                 AcceptedGap gap;
                 row.take_all(gap.problem, gap.stage, gap.items);
                 store.gaps.push_back(gap);
               }));
  return for_each(database, R"(
SELECT count(*) FROM (
  SELECT a.range_begin, a.range_end, s.items,
    lag(a.range_end) OVER (PARTITION BY a.problem, a.stage ORDER BY a.range_begin) AS before
  FROM accepted a LEFT JOIN stages s ON s.problem = a.problem AND s.stage = a.stage)
WHERE range_begin < 0 OR range_end <= range_begin OR range_begin < before OR range_end > items)",
                  [&](Query& row) { row.take(store.twice); });
}

Status read_blobs(Database& database, StoreInspection& store) {
  using Kind = BlobUse::Kind;
  TRY(for_each(database, "SELECT archive, name || '@' || version FROM applications", [&](Query& row) {
    BlobUse use;
    use.kind = Kind::archive;
    row.take_digest(use.digest);
    row.take(use.name);
    store.blobs.push_back(std::move(use));
  }));
  TRY(for_each(database, "SELECT digest, problem, name FROM results", [&](Query& row) {
    BlobUse use;
    use.kind = Kind::result;
    row.take_digest(use.digest);
    row.take_all(use.problem, use.name);
    store.blobs.push_back(std::move(use));
  }));
  const bool all = store.schema < kept_segments_schema;
  TRY(for_each(database,
               all ? "SELECT digest, problem, stage, range_begin, range_end FROM segments"
                   : "SELECT digest, problem, stage, range_begin, range_end FROM segments WHERE place = 1",
               [&](Query& row) {
                 BlobUse use;
                 row.take_digest(use.digest);
                 row.take_all(use.problem, use.stage, use.items);
                 store.blobs.push_back(std::move(use));
               }));
  return for_each(database,
                  "SELECT id, -1, inputs FROM problems UNION ALL SELECT problem, stage, inputs FROM stages",
                  [&](Query& row) {
                    BlobUse use;
                    use.kind = Kind::input;
                    row.take_all(use.problem, use.stage);
                    std::vector<protocol::Input> inputs;
                    row.take(AsList{inputs});
                    for (const auto& input : inputs) {
                      use.digest = input.digest;
                      use.name = input.name;
                      store.blobs.push_back(use);
                    }
                  });
}

// Segments whose bytes are in the store: all of them are read.
Status read_kept(Database& database, StoreInspection& store) {
  if (store.schema < kept_segments_schema) return {};
  return for_each(database, R"(
SELECT s.digest, s.problem, s.stage, s.range_begin, s.range_end, b.bytes IS NULL, coalesce(b.bytes, x'')
FROM segments s LEFT JOIN segment_bytes b ON b.segment = s.id WHERE s.place = 2)",
                  [&](Query& row) {
                    DamagedSegment segment;
                    Bytes bytes;
                    row.take_digest(segment.digest);
                    row.take_all(segment.problem, segment.stage, segment.items, segment.gone, bytes);
                    ++store.kept;
                    if (segment.gone || crypto::sha256_hex(bytes) != segment.digest)
                      store.damaged.push_back(std::move(segment));
                  });
}

}  // namespace

bool InspectedProblem::is_over() const {
  return state == ProblemState::finished || state == ProblemState::cancelled || state == ProblemState::failed;
}

bool InspectedProblem::has_stage() const {
  const ProblemState now = state == ProblemState::paused ? resume_to : state;
  return now == ProblemState::running || now == ProblemState::combining;
}

Result<StoreInspection> inspect_store(const io::Path& directory) {
  const io::Path path = directory / "store.sqlite";
  if (!io::real_files().exists(path))
    return Error{ErrorKind::not_found, path.string() + " is missing: restore the newest backup"};
  TRY_ASSIGN(const std::int64_t bytes, io::real_files().size(path));
  if (bytes == 0) return damaged_store(path.string(), "it is empty");
  TRY_ASSIGN(const auto database,
             Database::open(path.string(), Database::Create::no, Database::Access::read));
  StoreInspection store;
  TRY_ASSIGN(store.schema, database->schema_version());
  store.schema_known = migrations().back().version;
  if (store.schema == 0) return database->damaged("it has no tables");
  if (store.schema > store.schema_known) return newer_store(store.schema, store.schema_known);
  TRY(find_breaks(*database, store));
  if (!store.broken.empty()) return store;  // what its rows say could be anything
  TRY(read_sequences(*database, store));
  TRY(read_problems(*database, store));
  TRY(find_gaps(*database, store));
  TRY(read_blobs(*database, store));
  TRY(read_kept(*database, store));
  return store;
}

}  // namespace gleaner::storage
