// What SQLite's codes mean to a person, and to a transaction.
#include <cerrno>
#include <system_error>

#include "server/storage/sqlite.h"

namespace gleaner::storage {
namespace {

bool leaves_transaction_usable(ErrorKind kind) {
  return kind == ErrorKind::conflict || kind == ErrorKind::not_found || kind == ErrorKind::too_large;
}

}  // namespace

Error missing_row() {
  return {ErrorKind::not_found, "there is no host or problem of that number"};
}

Error damaged_store(const std::string& path, const std::string& what) {
  return {ErrorKind::invalid,
          "the store " + path + " is damaged (" + what +
              "): stop the server, move its directory away and restore the newest backup"};
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
