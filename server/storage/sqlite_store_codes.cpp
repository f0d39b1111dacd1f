// What hosts join with.
#include "server/storage/list_text.h"
#include "server/storage/sqlite_store.h"

namespace gleaner::storage {
namespace {

constexpr int as_settings = 2;  // in the column `own`, besides 0 and 1

CodeRow read_code(Query& query) {
  CodeRow row;
  int own = as_settings;
  query.take_all(row.name, row.secret_digest, row.hosts_max, own);
  take_list(query, row.tags);
  query.take_all(row.made_at, row.expires_at, row.withdrawn_at);
  if (own < 0 || own > as_settings) query.mark_bad();
  if (own != as_settings) row.own = own == 1;
  return row;
}

}  // namespace

Status SqliteStore::put_code(const CodeRow& row) {
  TRY_ASSIGN(const std::string tags, to_text(row.tags));
  Query query = database_->query(R"(
INSERT OR REPLACE INTO codes (name, secret_digest, hosts_max, own, tags, made_at, expires_at, withdrawn_at)
VALUES (?, ?, ?, ?, ?, ?, ?, ?))");
  query.add(row.name).add_bytes(row.secret_digest).add(row.hosts_max);
  query.add(row.own ? static_cast<int>(*row.own) : as_settings).add(tags);
  return query.add(row.made_at).add(row.expires_at).add(row.withdrawn_at).run();
}

Result<std::vector<CodeRow>> SqliteStore::codes() {
  Query query = database_->query(
      "SELECT name, secret_digest, hosts_max, own, tags, made_at, expires_at, withdrawn_at FROM codes ORDER "
      "BY name");
  return all_rows(query, read_code);
}

}  // namespace gleaner::storage
