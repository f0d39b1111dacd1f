// What was contributed day by day.
#include <algorithm>

#include "server/storage/sql_store.h"

namespace gleaner::storage {

Status SqlStore::add_to_day(const DayRow& more) {
  static const std::string sql =
      insert_text(table_of<DayRow>()) +
      " ON CONFLICT (day) DO UPDATE SET core_seconds = days.core_seconds + excluded.core_seconds, "
      "joules = days.joules + excluded.joules, items = days.items + excluded.items";
  {
    Query query = connection_->query(sql);
    add_row<DayRow>(query, more);
    TRY(query.run());
  }
  return connection_->query("DELETE FROM days WHERE day <= ?").add(more.day - DayRow::kept_max).run();
}

Result<std::vector<DayRow>> SqlStore::days(int count_max) {
  static const std::string sql = select_from<DayRow>("ORDER BY day DESC LIMIT ?");
  TRY_ASSIGN(auto newest, rows<DayRow>(sql, count_max));
  std::reverse(newest.begin(), newest.end());
  return newest;
}

}  // namespace gleaner::storage
