// What a table's description is, and what follows from one: its columns, reading and writing its rows. The
// descriptions are in stored_project.h and stored_problems.h. Private to this module.
#pragma once

#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "server/storage/query.h"
#include "server/storage/table.h"

namespace gleaner::storage {

// Of a row's type: `name`, `keys`, `put` if it is not replace, `Read` if what is read is another type, and
// columns(row, to), which calls to(name, value) for each column in order.
template <typename Row>
struct Stored;

// ---- What follows from it

template <typename Row>
struct ReadOf {
  using Type = Row;
};
template <typename Row>
requires requires {
  typename Stored<Row>::Read;
}
struct ReadOf<Row> {
  using Type = typename Stored<Row>::Read;
};
// Collects names and types.
class ColumnList {
 public:
  std::vector<Column> columns;
  template <typename Value>
  void operator()(const char* name, const Value&) {
    using enum Column::Type;
    columns.push_back({name, std::is_same_v<Value, double>        ? real
                             : std::is_same_v<Value, std::string> ? text
                                                                  : integer});
  }
  void operator()(const char* name, const Range&) {
    for (const char* end : {"_begin", "_end"})
      columns.push_back({std::string(name) + end, Column::Type::integer});
  }
  template <typename T>
  void operator()(const char* name, const AsBytes<T>&) {
    columns.push_back({name, Column::Type::bytes});
  }
  template <typename T>
  void operator()(const char* name, const AsDigest<T>&) {
    columns.push_back({name, Column::Type::digest});
  }
  template <typename T>
  void operator()(const char* name, const AsList<T>&) {
    columns.push_back({name, Column::Type::text});
  }
};

template <typename Row>
const Table& table_of() {
  static const Table table = [] {
    Table made;
    made.name = Stored<Row>::name;
    if constexpr (requires { Stored<Row>::keys; }) made.keys = Stored<Row>::keys;
    if constexpr (requires { Stored<Row>::put; }) made.put = Stored<Row>::put;
    typename ReadOf<Row>::Type row;
    ColumnList list;
    Stored<Row>::columns(row, list);
    made.columns = std::move(list.columns);
    return made;
  }();
  return table;
}

template <typename Row, typename Value>
void add_row(Query& query, const Value& row) {
  Stored<Row>::columns(row, [&query](const char*, const auto& value) { query.add(value); });
}

template <typename Row>
typename ReadOf<Row>::Type take_row(Query& query) {
  typename ReadOf<Row>::Type row;
  Stored<Row>::columns(row, [&query](const char*, auto&& value) {
    if constexpr (std::is_lvalue_reference_v<decltype(value)>)
      query.take(value);
    else
      query.take(std::move(value));
  });
  return row;
}

}  // namespace gleaner::storage
