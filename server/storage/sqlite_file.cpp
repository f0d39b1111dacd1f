// What is asked of SQLite's file as a whole: is it ours, of which schema, whole, how large; and a copy of it.
#include "server/storage/sqlite.h"
#include "shared/io/files.h"

namespace gleaner::storage {
namespace {

// "Glnr": tells a store from any other SQLite file. See
// https://www.sqlite.org/pragma.html#pragma_application_id
constexpr int application_id = 0x476c6e72;

}  // namespace

Status Database::check() {
  Query quick = query("PRAGMA quick_check(1)");
  std::string answer;
  TRY_ASSIGN(const bool found, quick.step());
  if (found) quick.take(answer);
  if (answer != "ok") return damaged(answer);
  return {};
}

Result<std::vector<std::string>> Database::find_damage() {
  Query query = this->query("PRAGMA integrity_check(100)");
  TRY_ASSIGN(auto lines, all_rows(query, [](Query& row) {
               std::string line;
               row.take(line);
               return line;
             }));
  std::erase(lines, "ok");
  return lines;
}

Status Database::copy_into(Database& target) {
  sqlite3_backup* const backup = sqlite3_backup_init(target.connection_, "main", connection_, "main");
  if (backup == nullptr) return target.fail(sqlite3_errcode(target.connection_));
  // In one step, under one read transaction: in several, each of the server's commits would begin it anew.
  (void)sqlite3_backup_step(backup, -1);
  const int code = sqlite3_backup_finish(backup);
  if (code != SQLITE_OK) return target.fail(code);
  return {};
}

Result<int> Database::schema_version() {
  const auto number_of = [this](std::string_view sql) -> Result<std::int64_t> {
    Query query = this->query(sql);
    std::int64_t number = 0;
    TRY_ASSIGN(const bool found, query.step());
    if (found) query.take(number);
    return number;
  };
  TRY_ASSIGN(const auto tables, number_of("SELECT count(*) FROM sqlite_schema"));
  if (tables == 0) return 0;
  TRY_ASSIGN(const auto id, number_of("PRAGMA application_id"));
  if (id != application_id) return damaged("it is a file of another program");
  TRY_ASSIGN(const auto version, number_of("SELECT max(version) FROM schema_version"));
  if (version < 1) return damaged("it has no schema version");
  return static_cast<int>(version);
}

Result<std::int64_t> Database::disk_bytes() {
  TRY_ASSIGN(const std::int64_t bytes, io::real_files().size(path_));
  const auto log = io::real_files().size(path_ + "-wal");
  return bytes + (log.ok() ? *log : 0);
}

Result<std::int64_t> Database::next_number(const Table& table) {
  Query query = this->query("SELECT COALESCE((SELECT seq FROM sqlite_sequence WHERE name = ?), 0) + 1");
  std::int64_t number = 0;
  TRY_ASSIGN(const bool found, query.add(table.name).step());
  CHECK_TRUE(found);  // it has no condition
  query.take(number);
  return number;
}

// AUTOINCREMENT has noted those of rows that were added; others were given to rows that are gone.
Status Database::note_number(const Table& table, std::int64_t number) {
  TRY_ASSIGN(const std::int64_t next, next_number(table));
  if (next > number) return {};
  TRY_ASSIGN(
      const std::int64_t changed,
      query("UPDATE sqlite_sequence SET seq = ?2 WHERE name = ?1").add(table.name).add(number).apply());
  if (changed > 0) return {};
  return query("INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)").add(table.name).add(number).run();
}

}  // namespace gleaner::storage
