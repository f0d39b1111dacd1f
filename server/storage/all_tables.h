// Every table of a project, whole, for whoever copies all of it or reads all of it: in the order in which
// rows may be added, so that what a row refers to is there. What an engine keeps for itself is left out.
// Private to this module. Immutable.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "server/storage/connection.h"

namespace gleaner::storage {

// Named values of a store whose rows are being moved here, or were moved elsewhere (move_store.h). They are
// the engine's own in this sense.
inline constexpr const char* moving_value = "moving";
inline constexpr const char* moved_value = "moved";

struct WholeTable {
  explicit WholeTable(Table described, const std::string& which = "");

  Table table;          // puts rows in the place of those that are there
  std::size_t ordered;  // the first columns of the key that are numbers, which every engine orders alike
  // Texts of queries, made once: how many rows; all by their key; those from given ordered columns on; the
  // ordered columns of the last; none of it any more.
  std::string count, rows, rest, last, clear;
};

[[nodiscard]] const std::vector<WholeTable>& all_tables();
// Those whose rows are numbered by the engine where they come without a number.
[[nodiscard]] std::vector<const Table*> numbered_tables();

// The next column of a row from the one to the other.
void pass_column(Column::Type type, Query& from, Query& to);

// What a table holds, alike for every engine and every order of its rows.
struct TableSum {
  std::int64_t rows = 0;
  std::string digest;  // in hexadecimal digits: of every row the SHA-256, all of them added up by XOR

  friend bool operator==(const TableSum&, const TableSum&) = default;
};
// Reads all of it; tells of each row. REQUIRES: no transaction writes there.
[[nodiscard]] Result<TableSum> sum_of(Connection& connection, const WholeTable& table,
                                      const std::function<void()>& row_read);
[[nodiscard]] Result<std::int64_t> count_rows(Connection& connection, const WholeTable& table);

}  // namespace gleaner::storage
