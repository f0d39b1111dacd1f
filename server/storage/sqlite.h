// SQLite's C API with owners: a connection, statements that are prepared once and kept, one run of a
// statement. Private to this room. One thread at a time.
//
// Errors: io (disk full or failing, with the system's reason), invalid (the file is damaged), conflict (a
// unique value is taken), not_found (refers to a row that is not there), unavailable (locked by another
// program), internal. Once a statement of a transaction fails with anything but conflict, not_found or
// too_large, the transaction is lost: every later write and commit() fails with that error until rollback().
#pragma once

#include <sqlite3.h>

#include <concepts>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <vector>

#include "server/storage/stored_enums.h"
#include "shared/base/clock.h"
#include "shared/base/ids.h"
#include "shared/base/range_set.h"
#include "shared/base/result.h"

namespace gleaner::storage {

class Database;

// "the store PATH is damaged (WHAT): " and what to do.
[[nodiscard]] Error damaged_store(const std::string& path, const std::string& what);

// One run of a statement: add() its parameters in order, then run() or step() and take() the columns in
// order. Errors of preparing and binding surface at the first step. Its end makes the statement free for the
// next run.
class Query {
 public:
  Query(Database& database, sqlite3_stmt* statement) : database_(database), statement_(statement) {}
  ~Query();
  Query(const Query&) = delete;
  Query& operator=(const Query&) = delete;

  template <std::integral T>
  Query& add(T value) {
    return add_integer(static_cast<std::int64_t>(value));
  }
  template <typename Enum>
  requires std::is_enum_v<Enum> Query& add(Enum value) {
    return add_integer(static_cast<std::int64_t>(value));
  }
  template <typename Tag>
  Query& add(StrongId<Tag> id) {
    return add_integer(id.value);
  }
  Query& add(Timestamp time) { return add_integer(to_microseconds(time)); }
  Query& add(Range range) { return add_integer(range.begin).add_integer(range.end); }
  Query& add(double value);
  Query& add(std::string_view text);
  Query& add_bytes(std::string_view bytes);
  // 64 hex digits as 32 bytes, anything else as the text it is.
  Query& add_digest(std::string_view digest);

  // Is there a (next) row?
  [[nodiscard]] Result<bool> step();
  // For statements that give no rows.
  [[nodiscard]] Status run();

  // The present row's next column. A value that cannot be one of ours marks the row: see checked().
  template <std::integral T>
  void take(T& value) {
    const std::int64_t number = take_integer();
    bad_value_ = bad_value_ || static_cast<std::int64_t>(static_cast<T>(number)) != number;
    value = static_cast<T>(number);
  }
  template <typename Enum>
  requires std::is_enum_v<Enum>
  void take(Enum& value) {
    const std::int64_t number = take_integer();
    bad_value_ = bad_value_ || number < 1 || number > last_number<Enum>;
    value = static_cast<Enum>(number);
  }
  template <typename Tag>
  void take(StrongId<Tag>& id) {
    id.value = take_integer();
  }
  void take(Timestamp& time) { time = from_microseconds(take_integer()); }
  void take(Range& range) { take(range.begin), take(range.end); }
  void take(double& value);
  void take(std::string& text_or_bytes);
  void take_digest(std::string& digest);
  template <typename... Values>
  void take_all(Values&... values) {
    (take(values), ...);
  }
  void mark_bad() { bad_value_ = true; }
  // REQUIRES: after step() answered true and the columns were taken. invalid if one of them cannot be ours.
  [[nodiscard]] Status checked() const;

 private:
  Query& add_integer(std::int64_t value);
  std::int64_t take_integer();
  void note(int code);

  Database& database_;
  sqlite3_stmt* statement_;
  int parameter_ = 0;
  int column_ = 0;
  int code_ = SQLITE_OK;  // the first that was not
  bool bad_value_ = false;
};

class Database {
 public:
  enum class Create { no, yes };
  // Opens and sets the pragmas of this room (WAL, synchronous=FULL, foreign keys).
  [[nodiscard]] static Result<std::unique_ptr<Database>> open(const std::string& path, Create create);
  ~Database();
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  // A run of `sql`, prepared at its first use. REQUIRES: the text outlives the database (a literal), and no
  // other run of the same text is alive.
  [[nodiscard]] Query query(std::string_view sql);
  // Several statements, not kept: pragmas and migrations.
  [[nodiscard]] Status execute(const char* sql);

  [[nodiscard]] Status begin();
  [[nodiscard]] Status commit();
  void rollback();
  [[nodiscard]] bool in_transaction() const { return in_transaction_; }

  [[nodiscard]] std::int64_t last_id() const { return sqlite3_last_insert_rowid(connection_); }
  [[nodiscard]] std::int64_t changes() const { return sqlite3_changes64(connection_); }
  // What `code` means to a person; remembers that the transaction is lost if it is.
  [[nodiscard]] Error fail(int code);
  [[nodiscard]] Error fail_prepare();
  [[nodiscard]] Error damaged(const std::string& what) const { return damaged_store(path_, what); }

 private:
  friend class Query;
  explicit Database(std::string path) : path_(std::move(path)) {}
  [[nodiscard]] Error describe(int code) const;
  [[nodiscard]] Status may_write() const;

  std::string path_;
  sqlite3* connection_ = nullptr;
  std::unordered_map<std::string_view, sqlite3_stmt*> statements_;
  bool in_transaction_ = false;
  std::optional<Error> lost_;  // why the transaction cannot be committed any more
};

// All rows, or the first if there is one, each read by `read(query)`.
template <typename Read>
auto all_rows(Query& query, Read read) -> Result<std::vector<decltype(read(query))>> {
  std::vector<decltype(read(query))> rows;
  while (true) {
    TRY_ASSIGN(const bool found, query.step());
    if (!found) return rows;
    rows.push_back(read(query));
    TRY(query.checked());
  }
}
template <typename Read>
auto first_row(Query& query, Read read) -> Result<std::optional<decltype(read(query))>> {
  TRY_ASSIGN(const bool found, query.step());
  if (!found) return std::optional<decltype(read(query))>{};
  auto row = std::make_optional(read(query));
  TRY(query.checked());
  return row;
}

}  // namespace gleaner::storage
