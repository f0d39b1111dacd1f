// Who administers, what hosts join with, and who is kept out.
#include "server/storage/sql_store.h"

namespace gleaner::storage {

Status SqlStore::put_token(const TokenRow& row) {
  return put<TokenRow>(row);
}

Result<std::vector<TokenRow>> SqlStore::tokens() {
  static const std::string sql = select_from<TokenRow>("ORDER BY name");
  return rows<TokenRow>(sql);
}

Status SqlStore::put_code(const CodeRow& row) {
  return put<CodeRow>(row);
}

Result<std::vector<CodeRow>> SqlStore::codes() {
  static const std::string sql = select_from<CodeRow>("ORDER BY name");
  return rows<CodeRow>(sql);
}

Status SqlStore::put_ban(const protocol::Ban& ban) {
  return put<protocol::Ban>(ban);
}

Status SqlStore::drop_ban(protocol::BanKind kind, const std::string& subject) {
  return connection_->query("DELETE FROM bans WHERE kind = ? AND subject = ?").add(kind).add(subject).run();
}

Result<std::vector<protocol::Ban>> SqlStore::bans() {
  static const std::string sql = select_from<protocol::Ban>("ORDER BY kind, subject");
  return rows<protocol::Ban>(sql);
}

}  // namespace gleaner::storage
