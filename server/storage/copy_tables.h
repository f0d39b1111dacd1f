// Rows of whole tables from one connection to another, of the same engine or not. Private to this module.
#pragma once

#include <cstdint>
#include <functional>

#include "server/storage/all_tables.h"

namespace gleaner::storage {

// In transactions of its own there, of 10,000 rows; goes on behind what is there already. Tells of each row.
[[nodiscard]] Status copy_table(Connection& from, Connection& to, const WholeTable& table,
                                const std::function<void()>& row_copied);
// The numbers that were given, those of rows that are gone included.
[[nodiscard]] Status copy_numbers(Connection& from, Connection& to);
// Reads both. invalid: they differ.
[[nodiscard]] Result<TableSum> compare_table(Connection& from, Connection& to, const WholeTable& table,
                                             const std::function<void()>& row_read);

}  // namespace gleaner::storage
