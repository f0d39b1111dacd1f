// A database as this module sees it: statements that are prepared once and kept, rows that are put by their
// key, transactions. One engine a class (sqlite.h, postgres.h). Private to this module. One thread at a time.
//
// Errors: io (disk full or failing, with the system's reason), invalid (the store is damaged), conflict (a
// unique value is taken), not_found (refers to a row that is not there), unavailable (locked by another
// program, or another server leads), internal. Once a statement of a transaction fails with anything but
// conflict, not_found or too_large, the transaction is lost: every later write and commit() fails with that
// error until rollback().
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "server/storage/query.h"
#include "server/storage/table.h"
#include "shared/base/result.h"

namespace gleaner::storage {

class Connection {
 public:
  virtual ~Connection() = default;

  // A run of `sql`, prepared at its first use. Parameters are ? in order, or ?1 and so on. Its rows are not
  // all in memory: while some are not taken, nothing else may be asked. REQUIRES: the text outlives the
  // connection.
  [[nodiscard]] Query query(std::string_view sql) { return Query(*this, statement(sql)); }
  // A run that puts a row, whose columns are its parameters: as Query::run().
  [[nodiscard]] Query put(const Table& table) { return Query(*this, put_statement(table)); }
  // A run that finds the row of a key, which is its parameters.
  [[nodiscard]] Query find(const Table& table) { return Query(*this, find_statement(table)); }

  // Statements of migrations.cpp, whose types are SQLite's.
  [[nodiscard]] virtual Status execute_schema(const char* sql) = 0;
  // The schema that is there; 0: no tables at all. invalid if it is not Gleaner's.
  [[nodiscard]] virtual Result<int> schema_version() = 0;
  // Finds what is damaged by reading all of it, where the engine does not do so by itself.
  [[nodiscard]] virtual Status check() = 0;
  // The same, as thoroughly as the engine can, and in its words; empty: nothing.
  [[nodiscard]] virtual Result<std::vector<std::string>> find_damage() = 0;
  // What it takes of a disk, its log included.
  [[nodiscard]] virtual Result<std::int64_t> disk_bytes() = 0;
  // The number that a row of `table` added without one is given, whose numbers never come twice.
  [[nodiscard]] virtual Result<std::int64_t> next_number(const Table& table) = 0;
  // Numbers up to `number` are given.
  [[nodiscard]] virtual Status note_number(const Table& table, std::int64_t number) = 0;

  [[nodiscard]] virtual Status begin() = 0;
  [[nodiscard]] virtual Status commit() = 0;
  virtual void rollback() = 0;
  // Has the open transaction written anything?
  [[nodiscard]] virtual bool changed() const = 0;
  // error: no transaction is open, or it is lost already.
  [[nodiscard]] virtual Status may_write() const = 0;

  // That the store is damaged, and what to do.
  [[nodiscard]] virtual Error damaged(const std::string& what) const = 0;

 protected:
  [[nodiscard]] virtual Statement& statement(std::string_view sql) = 0;
  [[nodiscard]] virtual Statement& put_statement(const Table& table) = 0;
  [[nodiscard]] virtual Statement& find_statement(const Table& table) = 0;
};

// Work in a transaction of its own.
template <typename Work>
[[nodiscard]] Status transact(Connection& connection, Work work) {
  TRY(connection.begin());
  const Status done = work();
  if (done.ok()) return connection.commit();
  connection.rollback();
  return done;
}

}  // namespace gleaner::storage
