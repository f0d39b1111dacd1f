// Every table of a project, whole, for whoever copies all of it or reads all of it: in the order in which
// rows may be added, so that what a row refers to is there. What an engine keeps for itself is left out.
// Private to this module. Immutable.
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "server/storage/connection.h"

namespace gleaner::storage {

// Named values of a store whose rows are being moved here, or were moved elsewhere (move_store.h). They are
// the engine's own in this sense.
inline constexpr const char* moving_value = "moving";
inline constexpr const char* moved_value = "moved";

// Where a row is in the order that every engine has: the numbers that its key begins with, then zeros.
struct Place {
  static constexpr std::size_t numbers_max = 4;
  std::array<std::int64_t, numbers_max> numbers{};

  friend auto operator<=>(const Place&, const Place&) = default;
};

struct WholeTable {
  explicit WholeTable(Table described, const std::string& which = "");

  Table table;          // puts rows in the place of those that are there
  std::size_t ordered;  // the first columns of the key that are numbers
  // No two rows have the same place.
  [[nodiscard]] bool one_a_place() const { return ordered == table.keys; }
  // Texts of queries, made once. How many rows; all by their key; those of places from one to another, no
  // more than a number; none of a place (of all, where nothing is ordered), or of places from one to another,
  // any more.
  std::string count, rows, range, remove, remove_range;
};

[[nodiscard]] const std::vector<WholeTable>& all_tables();
// Those whose rows are numbered by the engine where they come without a number.
[[nodiscard]] std::vector<const Table*> numbered_tables();

// What rows hold, alike for every engine and every order of them: of each the SHA-256, all of them added up
// by XOR.
struct TableSum {
  std::int64_t rows = 0;
  std::array<char, 32> digest{};

  void add(const TableSum& more);
  [[nodiscard]] std::string digest_text() const;  // in hexadecimal digits
  friend bool operator==(const TableSum&, const TableSum&) = default;
};
// The next row that a query of `rows` or `range` finds: its place, and the row added to `sum`; nothing: there
// is none left. With `put` its columns become the parameters of that.
[[nodiscard]] Result<std::optional<Place>> next_row(const WholeTable& table, Query& query, TableSum& sum,
                                                    Query* put = nullptr);
// Reads all of it; tells of each row. REQUIRES: no transaction writes there.
[[nodiscard]] Result<TableSum> sum_of(Connection& connection, const WholeTable& table,
                                      const std::function<void()>& row_read);
[[nodiscard]] Result<std::int64_t> count_rows(Connection& connection, const WholeTable& table);

}  // namespace gleaner::storage
