// One run of a prepared statement: parameters in, rows out. Private to this module. One thread at a time.
// Errors as in sqlite.h; those of preparing and binding surface at the first step.
#pragma once

#include <sqlite3.h>

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "server/storage/stored_enums.h"
#include "shared/base/clock.h"
#include "shared/base/ids.h"
#include "shared/base/range_set.h"
#include "shared/base/result.h"

namespace gleaner::storage {

class Database;

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
