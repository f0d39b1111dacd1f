// SQLite's C API with owners: a connection, statements that are prepared once and kept, one run of a
// statement. Private to this module. One thread at a time.
//
// Errors: io (disk full or failing, with the system's reason), invalid (the file is damaged), conflict (a
// unique value is taken), not_found (refers to a row that is not there), unavailable (locked by another
// program), internal. Once a statement of a transaction fails with anything but conflict, not_found or
// too_large, the transaction is lost: every later write and commit() fails with that error until rollback().
#pragma once

#include <sqlite3.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "server/storage/sqlite_query.h"
#include "shared/base/result.h"

namespace gleaner::storage {

// "the store PATH is damaged (WHAT): " and what to do.
[[nodiscard]] Error damaged_store(const std::string& path, const std::string& what);

class Database {
 public:
  enum class Create { no, yes };
  enum class Access { read, write };  // read: not even the log is written back
  // Opens and sets the pragmas of this module (WAL, synchronous=FULL, foreign keys).
  [[nodiscard]] static Result<std::unique_ptr<Database>> open(const std::string& path, Create create,
                                                              Access access = Access::write);
  ~Database();
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  // A run of `sql`, prepared at its first use. REQUIRES: the text outlives the database (a literal), and no
  // other run of the same text is alive.
  [[nodiscard]] Query query(std::string_view sql);
  // Several statements, not kept: pragmas and migrations.
  [[nodiscard]] Status execute(const char* sql);

  // Reads all of it once (PRAGMA quick_check): damaged, with what to do, if it is not whole.
  [[nodiscard]] Status check();
  // All of it as it is at one moment, whatever others write meanwhile (SQLite's online backup).
  [[nodiscard]] Status copy_into(Database& target);

  [[nodiscard]] Status begin();
  [[nodiscard]] Status commit();
  void rollback();
  [[nodiscard]] bool in_transaction() const { return in_transaction_; }

  [[nodiscard]] std::int64_t last_id() const { return sqlite3_last_insert_rowid(connection_); }
  [[nodiscard]] std::int64_t total_changes() const { return sqlite3_total_changes64(connection_); }
  [[nodiscard]] std::int64_t changes() const { return sqlite3_changes64(connection_); }
  // What `code` means to a person; remembers that the transaction is lost if it is.
  [[nodiscard]] Error fail(int code);
  [[nodiscard]] Error fail_prepare();
  [[nodiscard]] Error damaged(const std::string& what) const { return damaged_store(path_, what); }

  // error: no transaction is open, or it is lost already.
  [[nodiscard]] Status may_write() const;

 private:
  friend class Query;
  explicit Database(std::string path) : path_(std::move(path)) {}
  [[nodiscard]] Error describe(int code) const;

  std::string path_;
  sqlite3* connection_ = nullptr;
  // Texts are literals, some of a thousand characters: told apart by where they are before they are compared.
  struct ByPlace {
    std::size_t operator()(std::string_view text) const { return std::hash<const void*>{}(text.data()); }
  };
  std::unordered_map<std::string_view, sqlite3_stmt*, ByPlace> statements_;
  bool in_transaction_ = false;
  std::optional<Error> lost_;  // why the transaction cannot be committed any more
};

}  // namespace gleaner::storage
