// Segments, what is accepted from them, verdicts and acknowledgements.
#include <algorithm>
#include <bit>
#include <iterator>
#include <limits>

#include "server/storage/sqlite_store.h"
#include "shared/base/failpoint.h"

namespace gleaner::storage {
namespace {

// floor(log2(size)). Segments of a class are shorter than 2^(class+1), so that those over a range begin less
// than that before it: an index on (class, begin) finds them without looking at all others.
constexpr int size_class_max = 61;
int size_class(Range range) {
  const auto size = static_cast<std::uint64_t>(std::max<std::int64_t>(range.size(), 1));
  return std::min(static_cast<int>(std::bit_width(size)) - 1, size_class_max);
}

SegmentRow read_segment(Query& query) {
  SegmentRow row;
  query.take_all(row.id, row.problem, row.stage, row.unit, row.host, row.range);
  query.take_digest(row.digest);
  query.take_all(row.bytes, row.received_at, row.compute_seconds, row.place);
  return row;
}

AcceptedRow read_accepted(Query& query) {
  AcceptedRow row;
  query.take_all(row.range, row.segment);
  return row;
}

VerdictRow read_verdict(Query& query) {
  VerdictRow row;
  query.take_all(row.problem, row.stage, row.range, row.first, row.second, row.agree, row.wrong_host,
                 row.note, row.at);
  return row;
}

AcknowledgementRow read_acknowledgement(Query& query) {
  AcknowledgementRow row;
  query.take_all(row.unit, row.host, row.range);
  query.take_digest(row.digest);
  query.take_all(row.status, row.reason, row.items_accepted, row.at);
  return row;
}

constexpr std::string_view insert_accepted =
    "INSERT INTO accepted (problem, stage, range_begin, range_end, segment) VALUES (?, ?, ?, ?, ?)";

}  // namespace

Result<SegmentId> SqliteStore::add_segment(const SegmentRow& row, std::string_view bytes) {
  TRY_ASSIGN(const std::int64_t id, take_id(segment_ids_));
  Query query = database_->query(R"(
INSERT INTO segments (id, problem, stage, size_class, unit, host, range_begin, range_end, digest, bytes, received_at,
  compute_seconds, place) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?))");
  query.add(id).add(row.problem).add(row.stage).add(size_class(row.range)).add(row.unit).add(row.host);
  query.add(row.range).add_digest(row.digest).add(row.bytes).add(row.received_at).add(row.compute_seconds);
  TRY(query.add(row.place).run());
  TRY(failpoint("row-inserted"));
  if (row.place == SegmentPlace::store) {
    Query keep = database_->query("INSERT INTO segment_bytes (segment, bytes) VALUES (?, ?)");
    TRY(keep.add(id).add_bytes(bytes).run());
  }
  newest_segment_ = {SegmentId{id}, row.problem, row.stage};
  return SegmentId{id};
}

Result<Bytes> SqliteStore::segment_bytes(SegmentId id) {
  const std::lock_guard lock(reading_);
  Query query = reader_->query("SELECT bytes FROM segment_bytes WHERE segment = ?");
  TRY_ASSIGN(const bool found, query.add(id).step());
  if (!found)
    return Error{ErrorKind::not_found, "the store has no bytes of segment " + std::to_string(id.value)};
  Bytes bytes;
  query.take(bytes);
  return bytes;
}

Result<std::vector<SegmentRow>> SqliteStore::kept_segments(SegmentId after, int count_max) {
  const std::lock_guard lock(reading_);
  Query query = reader_->query(R"(
SELECT id, problem, stage, unit, host, range_begin, range_end, digest, bytes, received_at, compute_seconds,
  place
FROM segments WHERE id > ? AND place = ? ORDER BY id LIMIT ?)");
  query.add(after).add(SegmentPlace::store).add(count_max);
  return all_rows(query, read_segment);
}

Result<std::vector<SegmentRow>> SqliteStore::segments_over(ProblemId problem, int stage, Range range) {
  std::vector<SegmentRow> rows;
  for (int present = -1;;) {
    {
      Query query = database_->query(
          "SELECT coalesce(min(size_class), -1) FROM segments WHERE problem = ? AND stage = ? AND size_class "
          "> ?");
      TRY_ASSIGN(const bool found, query.add(problem).add(stage).add(present).step());
      CHECK_TRUE(found);
      query.take(present);
      TRY(query.checked());
    }
    if (present < 0 || present > size_class_max) break;
    Query query = database_->query(R"(
SELECT id, problem, stage, unit, host, range_begin, range_end, digest, bytes, received_at, compute_seconds,
  place
FROM segments WHERE problem = ? AND stage = ? AND size_class = ? AND range_begin > ? AND range_begin < ?
  AND range_end > ?)");
    const std::int64_t reach = std::int64_t{2} << present;
    const std::int64_t from = std::max(range.begin, std::numeric_limits<std::int64_t>::min() + reach) - reach;
    query.add(problem).add(stage).add(present).add(from).add(range.end).add(range.begin);
    TRY_ASSIGN(auto more, all_rows(query, read_segment));
    rows.insert(rows.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
  }
  std::sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) { return a.id < b.id; });
  return rows;
}

Result<std::int64_t> SqliteStore::delivered_items(ProblemId problem, int stage) {
  Query query = database_->query(
      "SELECT coalesce(sum(range_end - range_begin), 0) FROM segments WHERE problem = ? AND stage = ?");
  TRY_ASSIGN(const bool found, query.add(problem).add(stage).step());
  CHECK_TRUE(found);
  std::int64_t items = 0;
  query.take(items);
  TRY(query.checked());
  return items;
}

Status SqliteStore::accept(ProblemId problem, int stage, Range range, SegmentId segment) {
  if (range.empty()) return {};
  const bool newest =
      newest_segment_.id == segment && newest_segment_.problem == problem && newest_segment_.stage == stage;
  if (!newest) {
    Query query = database_->query("SELECT 1 FROM segments WHERE id = ? AND problem = ? AND stage = ?");
    TRY_ASSIGN(const bool found, query.add(segment).add(problem).add(stage).step());
    if (!found)
      return Error{ErrorKind::not_found,
                   "there is no segment " + std::to_string(segment.value) + " in that stage"};
  }
  TRY(clear_accepted(problem, stage, range));
  Query query = database_->query(insert_accepted);
  return query.add(problem).add(stage).add(range).add(segment).run();
}

Status SqliteStore::unaccept(ProblemId problem, int stage, Range range) {
  if (range.empty()) return {};
  return clear_accepted(problem, stage, range);
}

Status SqliteStore::drop_segment(SegmentId segment) {
  newest_segment_ = {};
  TRY(database_->query("DELETE FROM segment_bytes WHERE segment = ?").add(segment).run());
  return database_->query("DELETE FROM segments WHERE id = ?").add(segment).run();
}

Status SqliteStore::clear_accepted(ProblemId problem, int stage, Range range) {
  // Ranges never overlap, so that in descending order of begin their ends descend too: stop at the first
  // before.
  std::vector<AcceptedRow> touched;
  {
    Query query = database_->query(R"(
SELECT range_begin, range_end, segment FROM accepted WHERE problem = ? AND stage = ? AND range_begin < ?
ORDER BY range_begin DESC)");
    query.add(problem).add(stage).add(range.end);
    while (true) {
      TRY_ASSIGN(const bool found, query.step());
      if (!found) break;
      const AcceptedRow row = read_accepted(query);
      if (row.range.end <= range.begin) break;
      touched.push_back(row);
    }
  }
  for (const AcceptedRow& row : touched) {
    if (row.range.begin < range.begin) {
      Query query = database_->query(
          "UPDATE accepted SET range_end = ? WHERE problem = ? AND stage = ? AND range_begin = ?");
      TRY(query.add(range.begin).add(problem).add(stage).add(row.range.begin).run());
    } else {
      Query query =
          database_->query("DELETE FROM accepted WHERE problem = ? AND stage = ? AND range_begin = ?");
      TRY(query.add(problem).add(stage).add(row.range.begin).run());
    }
    if (row.range.end > range.end) {
      Query query = database_->query(insert_accepted);
      TRY(query.add(problem).add(stage).add(range.end).add(row.range.end).add(row.segment).run());
    }
  }
  return {};
}

Result<std::vector<AcceptedRow>> SqliteStore::accepted(ProblemId problem, int stage) {
  Query query = database_->query(R"(
SELECT range_begin, range_end, segment FROM accepted WHERE problem = ? AND stage = ? ORDER BY range_begin)");
  query.add(problem).add(stage);
  return all_rows(query, read_accepted);
}

Result<std::vector<AcceptedSegment>> SqliteStore::accepted_segments(ProblemId problem, int stage) {
  Query query = database_->query(R"(
SELECT a.range_begin, a.range_end, s.id, s.problem, s.stage, s.unit, s.host, s.range_begin, s.range_end, s.digest, s.bytes,
  s.received_at, s.compute_seconds, s.place
FROM accepted a LEFT JOIN segments s ON s.id = a.segment WHERE a.problem = ? AND a.stage = ? ORDER BY a.range_begin)");
  query.add(problem).add(stage);
  return all_rows(query, [](Query& row) {
    AcceptedSegment piece;
    row.take(piece.range);
    piece.segment = read_segment(row);  // of one that is not there, its place is no number of ours
    return piece;
  });
}

Status SqliteStore::add_verdict(const VerdictRow& row) {
  Query query = database_->query(R"(
INSERT INTO verdicts (problem, number, stage, range_begin, range_end, first_segment, second_segment, agree, wrong_host,
  note, at)
VALUES (?1, (SELECT coalesce(max(number), 0) + 1 FROM verdicts WHERE problem = ?1), ?, ?, ?, ?, ?, ?, ?, ?, ?))");
  query.add(row.problem).add(row.stage).add(row.range).add(row.first).add(row.second).add(row.agree);
  return query.add(row.wrong_host).add(row.note).add(row.at).run();
}

Result<std::vector<VerdictRow>> SqliteStore::verdicts(ProblemId problem) {
  Query query = database_->query(R"(
SELECT problem, stage, range_begin, range_end, first_segment, second_segment, agree, wrong_host, note, at
FROM verdicts WHERE problem = ? ORDER BY number)");
  query.add(problem);
  return all_rows(query, read_verdict);
}

Status SqliteStore::add_acknowledgement(const AcknowledgementRow& row) {
  Query query = database_->query(R"(
INSERT INTO acknowledgements (unit, host, range_begin, range_end, digest, status, reason, items_accepted, at)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT DO UPDATE SET status = excluded.status, reason = excluded.reason, items_accepted = excluded.items_accepted,
  at = excluded.at)");
  query.add(row.unit).add(row.host).add(row.range).add_digest(row.digest).add(row.status).add(row.reason);
  return query.add(row.items_accepted).add(row.at).run();
}

Result<std::optional<AcknowledgementRow>> SqliteStore::acknowledgement(UnitId unit, HostId host, Range range,
                                                                       const std::string& digest) {
  Query query = database_->query(R"(
SELECT unit, host, range_begin, range_end, digest, status, reason, items_accepted, at FROM acknowledgements
WHERE unit = ? AND host = ? AND range_begin = ? AND range_end = ? AND digest = ?)");
  query.add(unit).add(host).add(range).add_digest(digest);
  return first_row(query, read_acknowledgement);
}

}  // namespace gleaner::storage
