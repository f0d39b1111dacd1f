// One run of a prepared statement: parameters in, rows out. Private to this module. One thread at a time.
// Errors as in connection.h; those of preparing and binding surface at the first step.
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "server/storage/list_text.h"
#include "server/storage/stored_enums.h"
#include "shared/base/clock.h"
#include "shared/base/ids.h"
#include "shared/base/range_set.h"
#include "shared/base/result.h"

namespace gleaner::storage {

class Connection;

// A prepared statement of an engine. Parameters and columns are taken one after the other.
class Statement {
 public:
  virtual ~Statement() = default;
  virtual void add(std::int64_t value) = 0;
  virtual void add(double value) = 0;
  virtual void add_text(std::string_view text) = 0;
  virtual void add_bytes(std::string_view bytes) = 0;
  virtual void add_digest(std::string_view digest) = 0;
  // As in Query.
  [[nodiscard]] virtual Result<bool> step() = 0;
  [[nodiscard]] virtual Status run() = 0;
  [[nodiscard]] virtual Result<std::int64_t> apply() = 0;
  [[nodiscard]] virtual std::int64_t take_integer() = 0;  // 0 of a NULL
  [[nodiscard]] virtual double take_real() = 0;
  virtual void take(std::string& text_or_bytes) = 0;
  virtual void take_digest(std::string& digest) = 0;
  virtual void reset() = 0;  // free for the next run
};

// How a value is stored where its type does not say it.
template <typename T>
struct AsBytes {
  T& value;
};
// 64 hex digits as 32 bytes, anything else as the text it is.
template <typename T>
struct AsDigest {
  T& value;
};
// A short list as JSON text (list_text.h).
template <typename T>
struct AsList {
  T& value;
};
// Follows from other columns: written, not read.
struct AsWritten {
  std::int64_t value;
};
template <typename T>
AsBytes(T&) -> AsBytes<T>;
template <typename T>
AsDigest(T&) -> AsDigest<T>;
template <typename T>
AsList(T&) -> AsList<T>;

// One run of a statement: add() its parameters in order, then run() or step() and take() the columns in
// order. Its end makes the statement free for the next run.
class Query {
 public:
  Query(Connection& connection, Statement& statement) : connection_(connection), statement_(statement) {}
  ~Query() { statement_.reset(); }
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
  Query& add(double value) { return statement_.add(value), *this; }
  Query& add(std::string_view text) { return statement_.add_text(text), *this; }
  Query& add_bytes(std::string_view bytes) { return statement_.add_bytes(bytes), *this; }
  Query& add_digest(std::string_view digest) { return statement_.add_digest(digest), *this; }
  template <typename T>
  Query& add(AsBytes<T> bytes) {
    return add_bytes(bytes.value);
  }
  template <typename T>
  Query& add(AsDigest<T> digest) {
    return add_digest(digest.value);
  }
  template <typename T>
  Query& add(AsList<T> list) {
    const Result<std::string> text = to_text(list.value);
    if (!text.ok()) bad_parameter_ = text.error();
    return add(std::string_view(text.ok() ? *text : std::string()));
  }
  Query& add(AsWritten number) { return add_integer(number.value); }

  // Is there a (next) row?
  [[nodiscard]] Result<bool> step();
  // For what gives no rows. What it does is seen by everything after it; that it failed may be told only by
  // the next step(), apply() or commit(), and then the transaction is lost.
  [[nodiscard]] Status run();
  // The same at once, and how many rows it changed. A conflict, or a row that is missing, leaves the
  // transaction as it was.
  [[nodiscard]] Result<std::int64_t> apply();

  // The present row's next column. A value that cannot be one of ours marks the row: see checked().
  template <std::integral T>
  void take(T& value) {
    const std::int64_t number = statement_.take_integer();
    bad_value_ = bad_value_ || static_cast<std::int64_t>(static_cast<T>(number)) != number;
    value = static_cast<T>(number);
  }
  template <typename Enum>
  requires std::is_enum_v<Enum>
  void take(Enum& value) {
    const std::int64_t number = statement_.take_integer();
    bad_value_ = bad_value_ || number < 1 || number > last_number<Enum>;
    value = static_cast<Enum>(number);
  }
  template <typename Tag>
  void take(StrongId<Tag>& id) {
    id.value = statement_.take_integer();
  }
  void take(Timestamp& time) { time = from_microseconds(statement_.take_integer()); }
  void take(Range& range) { take(range.begin), take(range.end); }
  void take(double& value) { value = statement_.take_real(); }
  void take(std::string& text_or_bytes) { statement_.take(text_or_bytes); }
  void take_digest(std::string& digest) { statement_.take_digest(digest); }
  void take(AsBytes<std::string> bytes) { take(bytes.value); }
  void take(AsDigest<std::string> digest) { take_digest(digest.value); }
  template <typename Element>
  void take(AsList<std::vector<Element>> list) {
    std::string text;
    take(text);
    if (!from_text(text, list.value)) mark_bad();
  }
  void take(AsWritten) { (void)statement_.take_integer(); }
  template <typename... Values>
  void take_all(Values&... values) {
    (take(values), ...);
  }
  void mark_bad() { bad_value_ = true; }
  // REQUIRES: after step() answered true and the columns were taken. invalid if one of them cannot be ours.
  [[nodiscard]] Status checked() const;

 private:
  Query& add_integer(std::int64_t value) { return statement_.add(value), *this; }

  Connection& connection_;
  Statement& statement_;
  std::optional<Error> bad_parameter_;
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
