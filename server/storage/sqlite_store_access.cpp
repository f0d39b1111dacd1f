// Who administers.
#include "server/storage/sqlite_store.h"

namespace gleaner::storage {

Status SqliteStore::put_token(const TokenRow& row) {
  Query query = database_->query(R"(
INSERT OR REPLACE INTO admin_tokens (name, digest, role, made_at, expires_at, withdrawn_at)
VALUES (?, ?, ?, ?, ?, ?))");
  query.add(row.name).add_bytes(row.digest).add(row.role);
  return query.add(row.made_at).add(row.expires_at).add(row.withdrawn_at).run();
}

Result<std::vector<TokenRow>> SqliteStore::tokens() {
  Query query = database_->query(
      "SELECT name, digest, role, made_at, expires_at, withdrawn_at FROM admin_tokens ORDER BY name");
  return all_rows(query, [](Query& each) {
    TokenRow row;
    each.take_all(row.name, row.digest, row.role, row.made_at, row.expires_at, row.withdrawn_at);
    return row;
  });
}

}  // namespace gleaner::storage
