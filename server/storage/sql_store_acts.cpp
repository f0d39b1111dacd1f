// The audit log, and what was refused.
#include "server/storage/sql_store.h"
#include "shared/base/limits.h"

namespace gleaner::storage {

Status SqlStore::add_act(const protocol::Act& act) {
  return put<protocol::Act>(act);
}

Result<std::vector<protocol::Act>> SqlStore::acts(std::int64_t after, int count_max) {
  static const std::string sql = select_from<protocol::Act>("WHERE number > ? ORDER BY number LIMIT ?");
  return rows<protocol::Act>(sql, after, count_max);
}

Status SqlStore::drop_acts(std::int64_t last) {
  return connection_->query("DELETE FROM acts WHERE number <= ?").add(last).run();
}

Status SqlStore::add_refusals(const protocol::RefusalCount& more) {
  static const std::string sql =
      insert_text(table_of<protocol::RefusalCount>()) +
      " ON CONFLICT (actor, kind, action) DO UPDATE SET times = refusals.times + excluded.times, "
      "last_at = excluded.last_at, last_network = excluded.last_network";
  Query query = connection_->query(sql);
  add_row<protocol::RefusalCount>(query, more);
  return query.run();
}

Result<std::vector<protocol::RefusalCount>> SqlStore::refusals() {
  static const std::string sql =
      select_from<protocol::RefusalCount>("ORDER BY last_at DESC, actor, kind, action LIMIT ?");
  return rows<protocol::RefusalCount>(sql, limits::acts_per_page_max);
}

}  // namespace gleaner::storage
