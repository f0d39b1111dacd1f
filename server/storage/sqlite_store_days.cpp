// What was contributed day by day.
#include "server/storage/sqlite_store.h"

namespace gleaner::storage {

Status SqliteStore::add_to_day(const DayRow& more) {
  Query query = database_->query(R"(
INSERT INTO days (day, core_seconds, joules, items) VALUES (?, ?, ?, ?)
ON CONFLICT DO UPDATE SET core_seconds = core_seconds + excluded.core_seconds,
  joules = joules + excluded.joules, items = items + excluded.items)");
  TRY(query.add(more.day).add(more.core_seconds).add(more.joules).add(more.items).run());
  return database_->query("DELETE FROM days WHERE day <= ?").add(more.day - DayRow::kept_max).run();
}

Result<std::vector<DayRow>> SqliteStore::days(int count_max) {
  Query query = database_->query(R"(
SELECT day, core_seconds, joules, items FROM (SELECT * FROM days ORDER BY day DESC LIMIT ?) ORDER BY day)");
  query.add(count_max);
  return all_rows(query, [](Query& each) {
    DayRow row;
    each.take_all(row.day, row.core_seconds, row.joules, row.items);
    return row;
  });
}

}  // namespace gleaner::storage
