// What the rows of a table are: name, columns, key. One description of each (stored_project.h,
// stored_problems.h), from which every engine makes its SQL. Private to this module. Immutable.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace gleaner::storage {

struct Column {
  enum class Type { integer, real, text, bytes, digest };
  std::string name;
  Type type = Type::integer;
};

struct Table {
  // What putting a row means where one of its key is there already, or is not.
  enum class Put {
    replace,  // the former row is replaced
    insert,   // conflict if there is one
    update,   // not_found if there is none
  };
  std::string name;
  std::size_t keys = 1;  // the first columns
  Put put = Put::replace;
  std::vector<Column> columns;
};

// "a, b, c", with `before` each: "n.a, n.b, n.c".
[[nodiscard]] std::string listed(const std::vector<Column>& columns, const std::string& before = "");
// "SELECT a, b, c FROM t"
[[nodiscard]] std::string select_text(const Table& table);
// "SELECT a, b, c FROM t WHERE a = ?"
[[nodiscard]] std::string find_text(const Table& table);
// "INSERT INTO t (a, b, c) VALUES (?, ?, ?)"
[[nodiscard]] std::string insert_text(const Table& table);
// " ON CONFLICT (a) DO UPDATE SET b = excluded.b, c = excluded.c", as the table says; may be empty.
[[nodiscard]] std::string conflict_text(const Table& table);

}  // namespace gleaner::storage
