// The audit log, and what was refused.
#include "server/storage/sqlite_store.h"
#include "shared/base/limits.h"

namespace gleaner::storage {
namespace {

protocol::Act read_act(Query& query) {
  protocol::Act act;
  query.take_all(act.number, act.at, act.actor, act.role, act.action, act.object, act.summary);
  query.take_digest(act.previous);
  return act;
}

}  // namespace

Status SqliteStore::add_act(const protocol::Act& act) {
  Query query = database_->query(R"(
INSERT INTO acts (number, at, actor, role, action, object, summary, previous)
VALUES (?, ?, ?, ?, ?, ?, ?, ?))");
  query.add(act.number).add(act.at).add(act.actor).add(act.role).add(act.action).add(act.object);
  return query.add(act.summary).add_digest(act.previous).run();
}

Result<std::vector<protocol::Act>> SqliteStore::acts(std::int64_t after, int count_max) {
  Query query = database_->query(R"(
SELECT number, at, actor, role, action, object, summary, previous FROM acts
WHERE number > ? ORDER BY number LIMIT ?)");
  query.add(after).add(count_max);
  return all_rows(query, read_act);
}

Status SqliteStore::drop_acts(std::int64_t last) {
  return database_->query("DELETE FROM acts WHERE number <= ?").add(last).run();
}

Status SqliteStore::add_refusals(const protocol::RefusalCount& more) {
  Query query = database_->query(R"(
INSERT INTO refusals (actor, kind, action, times, first_at, last_at, last_network) VALUES (?, ?, ?, ?, ?, ?, ?)
ON CONFLICT DO UPDATE SET times = times + excluded.times, last_at = excluded.last_at,
  last_network = excluded.last_network)");
  query.add(more.actor).add(more.kind).add(more.action).add(more.times).add(more.first_at);
  return query.add(more.last_at).add(more.last_network).run();
}

Result<std::vector<protocol::RefusalCount>> SqliteStore::refusals() {
  Query query = database_->query(R"(
SELECT actor, kind, action, times, first_at, last_at, last_network FROM refusals
ORDER BY last_at DESC, actor, kind, action LIMIT ?)");
  query.add(limits::acts_per_page_max);
  return all_rows(query, [](Query& each) {
    protocol::RefusalCount row;
    each.take_all(row.actor, row.kind, row.action, row.times, row.first_at, row.last_at, row.last_network);
    return row;
  });
}

}  // namespace gleaner::storage
