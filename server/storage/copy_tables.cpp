#include "server/storage/copy_tables.h"

#include <string>
#include <vector>

#include "shared/base/failpoint.h"

namespace gleaner::storage {
namespace {

constexpr std::int64_t rows_a_transaction = 10'000;

// The numbers that the key of the last row begins with; empty: all rows are to be copied.
Result<std::vector<std::int64_t>> last_key(Connection& connection, const WholeTable& table) {
  std::vector<std::int64_t> key;
  if (table.ordered == 0) return key;
  Query query = connection.query(table.last);
  TRY_ASSIGN(const bool found, query.step());
  for (std::size_t i = 0; found && i < table.ordered; ++i) query.take(key.emplace_back());
  return key;
}

std::string told(const TableSum& sum) {
  return std::to_string(sum.rows) + " rows, " + sum.digest;
}

}  // namespace

Status copy_table(Connection& from, Connection& to, const WholeTable& table,
                  const std::function<void()>& row_copied) {
  TRY_ASSIGN(const auto key, last_key(to, table));
  Query rows = from.query(key.empty() ? table.rows : table.rest);
  for (const std::int64_t number : key) rows.add(number);
  for (bool more = true; more;) {
    TRY(transact(to, [&]() -> Status {
      for (std::int64_t count = 0; count < rows_a_transaction; ++count) {
        TRY_ASSIGN(more, rows.step());
        if (!more) return {};
        Query put = to.put(table.table);
        for (const Column& column : table.table.columns) pass_column(column.type, rows, put);
        TRY(put.run());
        row_copied();
      }
      return {};
    }));
    TRY(failpoint("move-copied"));
  }
  return {};
}

Status copy_numbers(Connection& from, Connection& to) {
  return transact(to, [&]() -> Status {
    for (const Table* const table : numbered_tables()) {
      TRY_ASSIGN(const std::int64_t next, from.next_number(*table));
      TRY(to.note_number(*table, next - 1));
    }
    return {};
  });
}

Result<TableSum> compare_table(Connection& from, Connection& to, const WholeTable& table,
                               const std::function<void()>& row_read) {
  TRY_ASSIGN(const TableSum former, sum_of(from, table, row_read));
  TRY_ASSIGN(const TableSum now, sum_of(to, table, row_read));
  if (now == former) return now;
  return Error{ErrorKind::invalid,
               "the table " + table.table.name + " was not copied as it is (" + told(former) + "; " +
                   told(now) + "): nothing was given up. Look for damage with `gleaner-server check`"};
}

}  // namespace gleaner::storage
