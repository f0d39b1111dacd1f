#include "server/storage/sqlite.h"

#include <fcntl.h>
#include <unistd.h>

#include "shared/base/encoding.h"

namespace gleaner::storage {
namespace {

// Milliseconds to wait for a program that reads the file, for example a backup.
constexpr int busy_milliseconds = 5000;
// cell_size_check finds a damaged page before it is used; the cache is in KiB; the limit cuts a log that once
// grew.
constexpr const char* pragmas =
    "PRAGMA synchronous = FULL;"
    "PRAGMA foreign_keys = ON;"
    "PRAGMA cell_size_check = ON;"
    "PRAGMA trusted_schema = OFF;"
    "PRAGMA temp_store = MEMORY;"
    "PRAGMA cache_size = -65536;"
    "PRAGMA journal_size_limit = 67108864;";

// "UPDATE t SET b = ?2, c = ?3 WHERE a = ?1"
std::string update_text(const Table& table) {
  std::string set, where;
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    const std::string equal = table.columns[i].name + " = ?" + std::to_string(i + 1);
    if (i < table.keys)
      where += (where.empty() ? " WHERE " : " AND ") + equal;
    else
      set += (set.empty() ? " SET " : ", ") + equal;
  }
  return "UPDATE " + table.name + set + where;
}

}  // namespace

class Database::Run final : public Statement {
 public:
  Run(Database& database, std::string_view sql, bool must_find = false)
      : database_(database), must_find_(must_find) {
    // A failure leaves nullptr: the first step tells what SQLite has said.
    sqlite3_prepare_v3(database.connection_, sql.data(), static_cast<int>(sql.size()),
                       SQLITE_PREPARE_PERSISTENT, &statement_, nullptr);
  }
  ~Run() override { sqlite3_finalize(statement_); }
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;
  // SQLite has understood it. If not, it may at the next try: a table that was missing is back.
  [[nodiscard]] bool is_prepared() const { return statement_ != nullptr; }

  void add(std::int64_t value) override { note(sqlite3_bind_int64(statement_, ++parameter_, value)); }
  void add(double value) override { note(sqlite3_bind_double(statement_, ++parameter_, value)); }
  // A null pointer would be stored as NULL.
  void add_text(std::string_view text) override {
    const char* data = text.data() != nullptr ? text.data() : "";
    note(sqlite3_bind_text64(statement_, ++parameter_, data, text.size(), SQLITE_TRANSIENT, SQLITE_UTF8));
  }
  void add_bytes(std::string_view bytes) override {
    const char* data = bytes.data() != nullptr ? bytes.data() : "";
    note(sqlite3_bind_blob64(statement_, ++parameter_, data, bytes.size(), SQLITE_TRANSIENT));
  }
  void add_digest(std::string_view digest) override {
    if (digest.size() == 64) {
      if (const auto bytes = from_hex(digest)) return add_bytes(*bytes);
    }
    add_text(digest);
  }

  Result<bool> step() override {
    column_ = 0;
    if (statement_ == nullptr) return database_.fail_prepare();
    if (code_ != SQLITE_OK) return database_.fail(code_);
    if (sqlite3_stmt_readonly(statement_) == 0) TRY(database_.may_write());
    const int code = sqlite3_step(statement_);
    if (code == SQLITE_ROW) return true;
    if (code == SQLITE_DONE) return false;
    return database_.fail(code);
  }
  Status run() override {
    TRY_ASSIGN(const bool found, step());
    CHECK_TRUE(!found);
    if (must_find_ && sqlite3_changes64(database_.connection_) == 0) return missing_row();
    return {};
  }
  Result<std::int64_t> apply() override {
    TRY(run());
    return sqlite3_changes64(database_.connection_);
  }

  std::int64_t take_integer() override { return sqlite3_column_int64(statement_, column_++); }
  double take_real() override { return sqlite3_column_double(statement_, column_++); }
  void take(std::string& text_or_bytes) override {
    const auto* data = static_cast<const char*>(sqlite3_column_blob(statement_, column_));
    const int size = sqlite3_column_bytes(statement_, column_++);
    text_or_bytes.clear();
    if (data != nullptr) text_or_bytes.assign(data, static_cast<std::size_t>(size));
  }
  void take_digest(std::string& digest) override {
    const bool bytes = sqlite3_column_type(statement_, column_) == SQLITE_BLOB;
    take(digest);
    if (bytes) digest = to_hex(digest);
  }
  void reset() override {
    if (statement_ != nullptr) {
      sqlite3_reset(statement_);
      sqlite3_clear_bindings(statement_);
    }
    parameter_ = column_ = 0;
    code_ = SQLITE_OK;
  }

 private:
  void note(int code) {
    if (code_ == SQLITE_OK) code_ = code;
  }

  Database& database_;
  const bool must_find_;  // a row to change
  sqlite3_stmt* statement_ = nullptr;
  int parameter_ = 0;
  int column_ = 0;
  int code_ = SQLITE_OK;  // of binding: the first that was not
};

Database::Database(std::string path) : path_(std::move(path)) {}

Result<std::unique_ptr<Database>> Database::open(const std::string& path, Create create, Access access) {
  std::unique_ptr<Database> database(new Database(path));
  const int flags = (access == Access::read ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE) |
                    SQLITE_OPEN_NOMUTEX | (create == Create::yes ? SQLITE_OPEN_CREATE : 0);
  // SQLite's log and index beside it get the modes that it has: its user's alone, whatever the umask is.
  if (create == Create::yes)
    if (const int made = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600); made >= 0) ::close(made);
  const int code = sqlite3_open_v2(path.c_str(), &database->connection_, flags, nullptr);
  if (code != SQLITE_OK) return database->fail(code);
  sqlite3_extended_result_codes(database->connection_, 1);
  sqlite3_busy_timeout(database->connection_, busy_milliseconds);
  TRY(database->execute(pragmas));
  std::string mode;
  const auto keep_mode = [](void* into, int, char** columns, char**) {
    *static_cast<std::string*>(into) = columns[0] != nullptr ? columns[0] : "";
    return 0;
  };
  const int asked =
      sqlite3_exec(database->connection_, "PRAGMA journal_mode = WAL", keep_mode, &mode, nullptr);
  if (asked != SQLITE_OK) return database->fail(asked);
  if (mode != "wal")
    return Error{ErrorKind::io, "the file system of " + path +
                                    " cannot hold the store (no write-ahead log): use a local disk"};
  return database;
}

Database::~Database() {
  rollback();
  for (auto* kept : {&puts_, &finds_}) kept->clear();
  statements_.clear();
  sqlite3_close(connection_);
}

Statement& Database::statement(std::string_view sql) {
  auto& run = statements_[sql];
  if (run == nullptr || !run->is_prepared()) run = std::make_unique<Run>(*this, sql);
  return *run;
}

Statement& Database::put_statement(const Table& table) {
  OfTable& kept = puts_[&table];
  if (kept.run == nullptr || !kept.run->is_prepared()) {
    const bool update = table.put == Table::Put::update;
    kept.text = update ? update_text(table) : insert_text(table) + conflict_text(table);
    kept.run = std::make_unique<Run>(*this, kept.text, update);
  }
  return *kept.run;
}

Statement& Database::find_statement(const Table& table) {
  OfTable& kept = finds_[&table];
  if (kept.run == nullptr || !kept.run->is_prepared()) {
    kept.text = find_text(table);
    kept.run = std::make_unique<Run>(*this, kept.text);
  }
  return *kept.run;
}

Status Database::execute(const char* sql) {
  const int code = sqlite3_exec(connection_, sql, nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) return fail(code);
  return {};
}

Status Database::begin() {
  if (in_transaction_) return Error{ErrorKind::internal, "a transaction is open already"};
  in_transaction_ = true;
  changes_before_ = sqlite3_total_changes64(connection_);
  const Status begun = query("BEGIN IMMEDIATE").run();
  if (!begun.ok()) rollback();
  return begun;
}

Status Database::commit() {
  const Status allowed = may_write();
  if (!allowed.ok()) {
    rollback();
    return allowed;
  }
  const auto done = query("COMMIT").step();
  if (!done.ok()) {
    rollback();
    return done.error();
  }
  in_transaction_ = false;
  return {};
}

void Database::rollback() {
  // After some errors SQLite has rolled back by itself. A rollback that fails leaves nothing to do: what is
  // not committed in the log does not count, and the next begin() tells.
  if (in_transaction_ && sqlite3_get_autocommit(connection_) == 0)
    sqlite3_exec(connection_, "ROLLBACK", nullptr, nullptr, nullptr);
  in_transaction_ = false;
  lost_.reset();
}

Status Database::may_write() const {
  if (lost_) return *lost_;
  if (!in_transaction_) return Error{ErrorKind::internal, "the store was written to outside a transaction"};
  return {};
}

}  // namespace gleaner::storage
