#include "server/storage/sqlite_query.h"

#include "server/storage/sqlite.h"
#include "shared/base/encoding.h"

namespace gleaner::storage {

Query::~Query() {
  if (statement_ == nullptr) return;
  sqlite3_reset(statement_);
  sqlite3_clear_bindings(statement_);
}

void Query::note(int code) {
  if (code_ == SQLITE_OK) code_ = code;
}

Query& Query::add_integer(std::int64_t value) {
  if (statement_ != nullptr) note(sqlite3_bind_int64(statement_, ++parameter_, value));
  return *this;
}

Query& Query::add(double value) {
  if (statement_ != nullptr) note(sqlite3_bind_double(statement_, ++parameter_, value));
  return *this;
}

Query& Query::add(std::string_view text) {
  // A null pointer would be stored as NULL.
  const char* data = text.data() != nullptr ? text.data() : "";
  if (statement_ != nullptr)
    note(sqlite3_bind_text64(statement_, ++parameter_, data, text.size(), SQLITE_TRANSIENT, SQLITE_UTF8));
  return *this;
}

Query& Query::add_bytes(std::string_view bytes) {
  const char* data = bytes.data() != nullptr ? bytes.data() : "";
  if (statement_ != nullptr)
    note(sqlite3_bind_blob64(statement_, ++parameter_, data, bytes.size(), SQLITE_TRANSIENT));
  return *this;
}

Query& Query::add_digest(std::string_view digest) {
  if (digest.size() == 64) {
    if (const auto bytes = from_hex(digest)) return add_bytes(*bytes);
  }
  return add(digest);
}

Result<bool> Query::step() {
  column_ = 0;
  if (statement_ == nullptr) return database_.fail_prepare();
  if (code_ != SQLITE_OK) return database_.fail(code_);
  if (sqlite3_stmt_readonly(statement_) == 0) TRY(database_.may_write());
  const int code = sqlite3_step(statement_);
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) return false;
  return database_.fail(code);
}

Status Query::run() {
  TRY_ASSIGN(const bool found, step());
  CHECK_TRUE(!found);
  return {};
}

std::int64_t Query::take_integer() {
  return sqlite3_column_int64(statement_, column_++);
}

void Query::take(double& value) {
  value = sqlite3_column_double(statement_, column_++);
}

void Query::take(std::string& text_or_bytes) {
  const auto* data = static_cast<const char*>(sqlite3_column_blob(statement_, column_));
  const int size = sqlite3_column_bytes(statement_, column_++);
  text_or_bytes.clear();
  if (data != nullptr) text_or_bytes.assign(data, static_cast<std::size_t>(size));
}

void Query::take_digest(std::string& digest) {
  const bool bytes = sqlite3_column_type(statement_, column_) == SQLITE_BLOB;
  take(digest);
  if (bytes) digest = to_hex(digest);
}

Status Query::checked() const {
  if (bad_value_) return database_.damaged("a row holds a value that this program never writes");
  return {};
}

}  // namespace gleaner::storage
