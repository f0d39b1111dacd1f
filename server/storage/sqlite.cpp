#include "server/storage/sqlite.h"

#include <cerrno>
#include <system_error>

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

bool leaves_transaction_usable(ErrorKind kind) {
  return kind == ErrorKind::conflict || kind == ErrorKind::not_found || kind == ErrorKind::too_large;
}

}  // namespace

Error damaged_store(const std::string& path, const std::string& what) {
  return {ErrorKind::invalid,
          "the store " + path + " is damaged (" + what +
              "): stop the server, move its directory away and restore the newest backup"};
}

Result<std::unique_ptr<Database>> Database::open(const std::string& path, Create create, Access access) {
  std::unique_ptr<Database> database(new Database(path));
  const int flags = (access == Access::read ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE) |
                    SQLITE_OPEN_NOMUTEX | (create == Create::yes ? SQLITE_OPEN_CREATE : 0);
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
  for (const auto& [sql, statement] : statements_) sqlite3_finalize(statement);
  sqlite3_close(connection_);
}

Query Database::query(std::string_view sql) {
  sqlite3_stmt*& statement = statements_[sql];
  if (statement == nullptr) {
    // A failure leaves nullptr: the query tells at its first step what SQLite has said.
    sqlite3_prepare_v3(connection_, sql.data(), static_cast<int>(sql.size()), SQLITE_PREPARE_PERSISTENT,
                       &statement, nullptr);
  }
  return Query(*this, statement);
}

Status Database::execute(const char* sql) {
  const int code = sqlite3_exec(connection_, sql, nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) return fail(code);
  return {};
}

Status Database::check() {
  Query quick = query("PRAGMA quick_check(1)");
  std::string answer;
  TRY_ASSIGN(const bool found, quick.step());
  if (found) quick.take(answer);
  if (answer != "ok") return damaged(answer);
  return {};
}

Status Database::copy_into(Database& target) {
  sqlite3_backup* const backup = sqlite3_backup_init(target.connection_, "main", connection_, "main");
  if (backup == nullptr) return target.fail(sqlite3_errcode(target.connection_));
  // In one step, under one read transaction: in several, each of the server's commits would begin it anew.
  (void)sqlite3_backup_step(backup, -1);
  const int code = sqlite3_backup_finish(backup);
  if (code != SQLITE_OK) return target.fail(code);
  return {};
}

Status Database::begin() {
  if (in_transaction_) return Error{ErrorKind::internal, "a transaction is open already"};
  in_transaction_ = true;
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

Error Database::fail(int code) {
  Error error = describe(code);
  if (in_transaction_ && !lost_ && !leaves_transaction_usable(error.kind)) lost_ = error;
  return error;
}

Error Database::fail_prepare() {
  // Our texts are fixed: what does not fit them is the file.
  const int code = sqlite3_extended_errcode(connection_);
  if ((code & 0xff) != SQLITE_ERROR) return fail(code);
  const Error error =
      damaged(std::string("its tables are not this program's: ") + sqlite3_errmsg(connection_));
  if (in_transaction_ && !lost_) lost_ = error;
  return error;
}

Error Database::describe(int code) const {
  const std::string said = connection_ != nullptr ? sqlite3_errmsg(connection_) : sqlite3_errstr(code);
  const int system = connection_ != nullptr ? sqlite3_system_errno(connection_) : 0;
  const std::string reason =
      system != 0 ? std::generic_category().message(system) : std::string(sqlite3_errstr(code));
  switch (code & 0xff) {
    case SQLITE_FULL:
      return {ErrorKind::io, "cannot write the store " + path_ + ": the disk is full: free some space"};
    case SQLITE_IOERR:
      if (system == ENOSPC || system == EDQUOT)
        return {ErrorKind::io, "cannot write the store " + path_ + ": " + reason + ": free some space"};
      return {ErrorKind::io, "cannot read or write the store " + path_ + ": " + reason +
                                 ": check the disk, its free space and the file size limit"};
    case SQLITE_CANTOPEN:
    case SQLITE_READONLY:
    case SQLITE_PERM:
    case SQLITE_AUTH:
      return {ErrorKind::io, "cannot open the store " + path_ + " for writing (" + said +
                                 (system != 0 ? ", " + reason : "") +
                                 "): check that it and its directory belong to the server's user"};
    case SQLITE_NOMEM:
      return {ErrorKind::io, "cannot use the store " + path_ + ": out of memory: stop other programs"};
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
    case SQLITE_FORMAT:
      return damaged(said);
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return {ErrorKind::unavailable, "the store " + path_ + " is locked by another program: close it"};
    case SQLITE_TOOBIG:
      return {ErrorKind::too_large, "a value is too large for the store " + path_};
    case SQLITE_CONSTRAINT:
      if (code == SQLITE_CONSTRAINT_UNIQUE || code == SQLITE_CONSTRAINT_PRIMARYKEY)
        return {ErrorKind::conflict, "there is one like that already (" + said + ")"};
      if (code == SQLITE_CONSTRAINT_FOREIGNKEY)
        return {ErrorKind::not_found, "the problem, application or host that this belongs to does not exist"};
      return {ErrorKind::internal, "the store " + path_ + " refused a value: " + said};
    default:
      return {ErrorKind::internal, "the store " + path_ + " failed: " + said};
  }
}

}  // namespace gleaner::storage
