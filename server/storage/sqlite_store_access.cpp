// Who administers, and who is kept out.
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

Status SqliteStore::put_ban(const protocol::Ban& ban) {
  Query query = database_->query(R"(
INSERT OR REPLACE INTO bans (kind, subject, reason, made_by, made_at, expires_at) VALUES (?, ?, ?, ?, ?, ?))");
  query.add(ban.kind).add(ban.subject).add(ban.reason).add(ban.made_by);
  return query.add(ban.made_at).add(ban.expires_at).run();
}

Status SqliteStore::drop_ban(protocol::BanKind kind, const std::string& subject) {
  return database_->query("DELETE FROM bans WHERE kind = ? AND subject = ?").add(kind).add(subject).run();
}

Result<std::vector<protocol::Ban>> SqliteStore::bans() {
  Query query = database_->query(
      "SELECT kind, subject, reason, made_by, made_at, expires_at FROM bans ORDER BY kind, subject");
  return all_rows(query, [](Query& each) {
    protocol::Ban ban;
    each.take_all(ban.kind, ban.subject, ban.reason, ban.made_by, ban.made_at, ban.expires_at);
    return ban;
  });
}

}  // namespace gleaner::storage
