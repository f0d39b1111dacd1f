// Segments, what is accepted from them, verdicts and acknowledgements.
#include <algorithm>
#include <iterator>
#include <limits>

#include "server/storage/sql_store.h"
#include "shared/base/failpoint.h"

namespace gleaner::storage {

Result<SegmentId> SqlStore::add_segment(const SegmentRow& row, std::string_view bytes) {
  TRY_ASSIGN(const std::int64_t id, take_id(segment_ids_));
  struct WithId {
    SegmentId id;
    const ProblemId& problem;
    const int& stage;
    const UnitId& unit;
    const HostId& host;
    const Range& range;
    const std::string& digest;
    const std::int64_t& bytes;
    const Timestamp& received_at;
    const double& compute_seconds;
    const SegmentPlace& place;
    const std::int64_t& items_accepted;
  };
  TRY(put<SegmentRow>(WithId{SegmentId{id}, row.problem, row.stage, row.unit, row.host, row.range, row.digest,
                             row.bytes, row.received_at, row.compute_seconds, row.place,
                             row.items_accepted}));
  TRY(failpoint("row-inserted"));
  if (row.place == SegmentPlace::store)
    TRY(put<SegmentBytes<>>(SegmentBytes<std::string_view>{SegmentId{id}, bytes}));
  newest_segment_ = {SegmentId{id}, row.problem, row.stage};
  return SegmentId{id};
}

Result<Bytes> SqlStore::segment_bytes(SegmentId id) {
  const std::lock_guard lock(reading_);
  Query query = reader_->find(table_of<SegmentBytes<>>());
  query.add(id);
  TRY_ASSIGN(auto found, first_row(query, take_row<SegmentBytes<>>));
  if (!found)
    return Error{ErrorKind::not_found, "the store has no bytes of segment " + std::to_string(id.value)};
  return std::move(found->bytes);
}

Result<std::vector<SegmentRow>> SqlStore::kept_segments(SegmentId after, int count_max) {
  static const std::string sql = select_from<SegmentRow>("WHERE id > ? AND place = ? ORDER BY id LIMIT ?");
  const std::lock_guard lock(reading_);
  Query query = reader_->query(sql);
  query.add(after).add(SegmentPlace::store).add(count_max);
  return all_rows(query, take_row<SegmentRow>);
}

Result<std::vector<SegmentRow>> SqlStore::segments_over(ProblemId problem, int stage, Range range) {
  // Class by class of those that there are, by the index.
  static const std::string sql = R"(
WITH RECURSIVE classes (class) AS (
  SELECT min(size_class) FROM segments WHERE problem = ?1 AND stage = ?2
  UNION ALL
  SELECT (SELECT min(size_class) FROM segments WHERE problem = ?1 AND stage = ?2 AND size_class > class)
  FROM classes WHERE class IS NOT NULL)
SELECT )" + listed(table_of<SegmentRow>().columns, "s.") +
                                 R"( FROM classes CROSS JOIN segments s
WHERE s.problem = ?1 AND s.stage = ?2 AND s.size_class = class AND s.range_begin < ?4 AND s.range_end > ?3
  AND s.range_begin > ?3 - (CAST(2 AS bigint) << CAST(class AS int)) ORDER BY s.id)";
  // Nothing begins so early, and further down the difference would be no number of 64 bits.
  constexpr std::int64_t earliest = -(std::int64_t{2} << size_class_max);
  range.begin = std::max(range.begin, earliest);
  return rows<SegmentRow>(sql, problem, stage, range);
}

Result<std::int64_t> SqlStore::delivered_items(ProblemId problem, int stage) {
  Query query = connection_->query(
      "SELECT CAST(coalesce(sum(range_end - range_begin), 0) AS bigint) FROM segments WHERE problem = ? AND "
      "stage = ?");
  TRY_ASSIGN(const bool found, query.add(problem).add(stage).step());
  CHECK_TRUE(found);
  std::int64_t items = 0;
  query.take(items);
  TRY(query.checked());
  return items;
}

Status SqlStore::accept_free(ProblemId problem, int stage, Range range, SegmentId segment) {
  if (range.empty()) return {};
  const bool newest =
      newest_segment_.id == segment && newest_segment_.problem == problem && newest_segment_.stage == stage;
  if (!newest) {
    Query query = connection_->query("SELECT 1 FROM segments WHERE id = ? AND problem = ? AND stage = ?");
    TRY_ASSIGN(const bool found, query.add(segment).add(problem).add(stage).step());
    if (!found)
      return Error{ErrorKind::not_found,
                   "there is no segment " + std::to_string(segment.value) + " in that stage"};
  }
  return put<PlacedAccepted>(PlacedAccepted{problem, stage, range, segment});
}

Status SqlStore::accept(ProblemId problem, int stage, Range range, SegmentId segment) {
  TRY(unaccept(problem, stage, range));
  return accept_free(problem, stage, range, segment);
}

Status SqlStore::unaccept(ProblemId problem, int stage, Range range) {
  if (range.empty()) return {};
  // Ranges never overlap: of those that begin before a place, only the last can reach over it. First what
  // goes on behind the end becomes a row of its own, then what began before ends there.
  {
    Query query = connection_->query(R"(
INSERT INTO accepted (problem, stage, range_begin, range_end, segment)
SELECT problem, stage, ?3, range_end, segment FROM accepted WHERE problem = ?1 AND stage = ?2 AND range_end > ?3
  AND range_begin = (SELECT max(range_begin) FROM accepted WHERE problem = ?1 AND stage = ?2 AND range_begin < ?3))");
    TRY(query.add(problem).add(stage).add(range.end).run());
  }
  {
    Query query = connection_->query(R"(
UPDATE accepted SET range_end = ?3 WHERE problem = ?1 AND stage = ?2 AND range_end > ?3
  AND range_begin = (SELECT max(range_begin) FROM accepted WHERE problem = ?1 AND stage = ?2 AND range_begin < ?3))");
    TRY(query.add(problem).add(stage).add(range.begin).run());
  }
  return connection_
      ->query("DELETE FROM accepted WHERE problem = ? AND stage = ? AND range_begin >= ? AND range_begin < ?")
      .add(problem)
      .add(stage)
      .add(range)
      .run();
}

Status SqlStore::drop_segment(SegmentId segment) {
  newest_segment_ = {};
  // Its host may ask once more.
  TRY(connection_
          ->query(
              "INSERT INTO acknowledgements (unit, host, range_begin, range_end, digest, items_accepted, at) "
              "SELECT unit, host, range_begin, range_end, digest, items_accepted, received_at FROM segments "
              "WHERE id = ? AND items_accepted >= 0 ON CONFLICT DO NOTHING")
          .add(segment)
          .run());
  TRY(connection_->query("DELETE FROM segment_bytes WHERE segment = ?").add(segment).run());
  return connection_->query("DELETE FROM segments WHERE id = ?").add(segment).run();
}

Result<std::vector<AcceptedRow>> SqlStore::accepted(ProblemId problem, int stage) {
  static const std::string sql =
      select_from<PlacedAccepted>("WHERE problem = ? AND stage = ? ORDER BY range_begin");
  Query query = connection_->query(sql);
  query.add(problem).add(stage);
  return all_rows(query, [](Query& each) {
    const PlacedAccepted row = take_row<PlacedAccepted>(each);
    return AcceptedRow{row.range, row.segment};
  });
}

Result<std::vector<AcceptedSegment>> SqlStore::accepted_segments(ProblemId problem, int stage) {
  static const std::string sql =
      "SELECT a.range_begin, a.range_end, " + listed(table_of<SegmentRow>().columns, "s.") +
      " FROM accepted a LEFT JOIN segments s ON s.id = a.segment WHERE a.problem = ? AND a.stage = ? "
      "ORDER BY a.range_begin";
  Query query = connection_->query(sql);
  query.add(problem).add(stage);
  return all_rows(query, [](Query& each) {
    AcceptedSegment piece;
    each.take(piece.range);
    piece.segment = take_row<SegmentRow>(each);  // of one that is not there, its place is no number of ours
    return piece;
  });
}

Status SqlStore::add_verdict(const VerdictRow& row) {
  static const NumberedTexts texts = numbered_texts<VerdictRow>();
  return add_to_problem<VerdictRow>(row, texts, std::numeric_limits<std::int64_t>::max());
}

Result<std::vector<VerdictRow>> SqlStore::verdicts(ProblemId problem) {
  static const std::string sql = select_from<VerdictRow>("WHERE problem = ? ORDER BY number");
  return numbered_rows<VerdictRow>(sql, problem);
}

Result<std::optional<AcknowledgementRow>> SqlStore::acknowledgement(UnitId unit, HostId host, Range range,
                                                                    const std::string& digest) {
  // The unit says where its segments are in the index.
  static const std::string sql =
      "SELECT s.unit, s.host, s.range_begin, s.range_end, s.digest, s.items_accepted, s.received_at "
      "FROM units u JOIN segments s ON s.problem = u.problem AND s.stage = u.stage AND s.size_class = ?1 "
      "AND s.range_begin = ?2 WHERE u.id = ?3 AND s.unit = ?3 AND s.host = ?4 AND s.range_end = ?5 AND "
      "s.digest = ?6 AND s.items_accepted >= 0";
  {
    Query query = connection_->query(sql);
    query.add(size_class(range)).add(range.begin).add(unit).add(host).add(range.end).add_digest(digest);
    TRY_ASSIGN(auto found, first_row(query, take_row<AcknowledgementRow>));
    if (found) return found;
  }
  Query query = connection_->find(table_of<AcknowledgementRow>());
  query.add(unit).add(host).add(range).add_digest(digest);
  return first_row(query, take_row<AcknowledgementRow>);
}

}  // namespace gleaner::storage
