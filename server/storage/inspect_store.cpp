#include "server/storage/inspect_store.h"

#include <utility>

#include "server/storage/directory_lock.h"
#include "server/storage/leadership.h"
#include "server/storage/migrations.h"
#include "server/storage/open_parts.h"
#include "server/storage/sqlite.h"
#include "server/storage/stored_project.h"
#include "shared/crypto/keys.h"

namespace gleaner::storage {
namespace {

using protocol::ProblemState;

// Rows of queries here name columns of the first schema alone, where nothing else is said.
template <typename Use>
Status for_each(Connection& database, std::string_view sql, Use use) {
  Query query = database.query(sql);
  while (true) {
    TRY_ASSIGN(const bool found, query.step());
    if (!found) return {};
    use(query);
    TRY(query.checked());
  }
}

// Rows that refer to rows of another table, which the schema says, too.
struct Reference {
  const char *table, *parent;
  std::vector<const char*> columns, keys;  // alike in number
};
const std::vector<Reference> references{{"problems", "applications", {"application"}, {"id"}},
                                        {"results", "problems", {"problem"}, {"id"}},
                                        {"stages", "problems", {"problem"}, {"id"}},
                                        {"stage_costs", "stages", {"problem", "stage"}, {"problem", "stage"}},
                                        {"units", "problems", {"problem"}, {"id"}},
                                        {"units", "hosts", {"host"}, {"id"}},
                                        {"host_records", "problems", {"problem"}, {"id"}},
                                        {"host_records", "hosts", {"host"}, {"id"}},
                                        {"segments", "problems", {"problem"}, {"id"}},
                                        {"segments", "hosts", {"host"}, {"id"}},
                                        {"accepted", "problems", {"problem"}, {"id"}},
                                        {"verdicts", "problems", {"problem"}, {"id"}},
                                        {"failures", "problems", {"problem"}, {"id"}},
                                        {"decisions", "problems", {"problem"}, {"id"}},
                                        {"leases", "problems", {"problem"}, {"id"}},
                                        {"deliveries", "problems", {"problem"}, {"id"}}};

std::string strays_text(const Reference& reference) {
  std::string same;
  for (std::size_t i = 0; i < reference.keys.size(); ++i)
    same += std::string(i == 0 ? "p." : " AND p.") + reference.keys[i] + " = c." + reference.columns[i];
  return std::string("SELECT count(*) FROM ") + reference.table + " c LEFT JOIN " + reference.parent +
         " p ON " + same + " WHERE p." + reference.keys.front() + " IS NULL";
}

Status find_strays(Connection& database, StoreInspection& store) {
  static const auto texts = [] {
    std::vector<std::string> made;
    for (const Reference& each : references) made.push_back(strays_text(each));
    return made;
  }();
  for (std::size_t i = 0; i < references.size(); ++i) {
    std::int64_t count = 0;
    TRY(for_each(database, texts[i], [&](Query& row) { row.take(count); }));
    if (count > 0) store.strays[{references[i].table, references[i].parent}] += count;
  }
  return {};
}

Status read_sequences(Connection& database, StoreInspection& store) {
  return for_each(database, "SELECT name, next FROM sequences", [&](Query& row) {
    std::string name;
    std::int64_t next = 0;
    row.take_all(name, next);
    if (name == "generation") store.present.generation = next;
    if (name == "unit") store.present.units = next;
    if (name == "segment") store.present.segments = next;
  });
}

Status read_problems(Connection& database, StoreInspection& store) {
  TRY(for_each(database, R"(
SELECT p.id, p.name, p.state, p.resume_to, p.stage,
  coalesce((SELECT s.items FROM stages s WHERE s.problem = p.id AND s.stage = p.stage), -1),
  (SELECT CAST(coalesce(sum(a.range_end - a.range_begin), 0) AS bigint) FROM accepted a
    WHERE a.problem = p.id AND a.stage = p.stage),
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

Status read_acts(Connection& database, StoreInspection& store) {
  TRY(for_each(database, "SELECT name, value FROM named_values WHERE name IN ('acts_start', 'acts_head')",
               [&](Query& row) {
                 std::string name, value;
                 row.take_all(name, value);
                 (name == "acts_start" ? store.audit.start : store.audit.head) = std::move(value);
               }));
  static const std::string sql = select_text(table_of<protocol::Act>()) + " ORDER BY number";
  return for_each(database, sql,
                  [&](Query& row) { store.audit.acts.push_back(take_row<protocol::Act>(row)); });
}

Status find_gaps(Connection& database, StoreInspection& store) {
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
  FROM accepted a LEFT JOIN stages s ON s.problem = a.problem AND s.stage = a.stage) AS ranges
WHERE range_begin < 0 OR range_end <= range_begin OR range_begin < before OR range_end > items)",
                  [&](Query& row) { row.take(store.twice); });
}

Status read_blobs(Connection& database, StoreInspection& store) {
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
  TRY(for_each(database,
               "SELECT digest, problem, stage, range_begin, range_end FROM segments WHERE place = 1",
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
Status read_kept(Connection& database, StoreInspection& store) {
  return for_each(database, R"(
SELECT s.digest, s.problem, s.stage, s.range_begin, s.range_end, CASE WHEN b.segment IS NULL THEN 1 ELSE 0 END, b.bytes
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

namespace {

Result<StoreInspection> inspect(Connection& database, std::string place) {
  StoreInspection store;
  store.place = std::move(place);
  TRY_ASSIGN(store.schema, database.schema_version());
  store.schema_known = migrations().back().version;
  if (store.schema == 0) return database.damaged("it has no tables");
  TRY(check_schema(store.schema, migrations()));
  TRY_ASSIGN(store.broken, database.find_damage());
  if (!store.broken.empty()) return store;  // what its rows say could be anything
  if (const Status whole = check_place(database, store.place); !whole.ok())
    store.elsewhere = whole.error().message;
  TRY(find_strays(database, store));
  TRY(read_sequences(database, store));
  TRY(read_problems(database, store));
  TRY(read_acts(database, store));
  TRY(find_gaps(database, store));
  TRY(read_blobs(database, store));
  TRY(read_kept(database, store));
  return store;
}

// What leads a project's database, and does nothing there.
struct Held {
  std::unique_ptr<Postgres> session;
  std::shared_ptr<Leadership> leadership;
};

}  // namespace

Result<std::shared_ptr<void>> hold_store(const std::string& url, const io::Path& directory) {
  if (url.empty()) {
    TRY_ASSIGN(auto lock, DirectoryLock::take(directory));
    return std::shared_ptr<void>(std::move(lock));
  }
  auto held = std::make_shared<Held>();
  TRY_ASSIGN(held->session, Postgres::open(url));
  TRY_ASSIGN(held->leadership, Leadership::take(*held->session, url, [] { return false; }, {}));
  return std::shared_ptr<void>(std::move(held));
}

Result<StoreInspection> inspect_store(const std::string& url, const io::Path& directory) {
  if (!url.empty()) {
    TRY_ASSIGN(const auto session, Postgres::open(url));
    return inspect(*session, session->place());
  }
  const io::Path path = directory / store_file;
  if (!io::real_files().exists(path))
    return Error{ErrorKind::not_found, path.string() + " is missing: restore the newest backup"};
  TRY_ASSIGN(const std::int64_t bytes, io::real_files().size(path));
  if (bytes == 0) return damaged_store(path.string(), "it is empty");
  TRY_ASSIGN(const auto database,
             Database::open(path.string(), Database::Create::no, Database::Access::read));
  return inspect(*database, path.string());
}

}  // namespace gleaner::storage
