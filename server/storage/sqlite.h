// SQLite's C API with owners: a connection to a file, statements that are prepared once and kept. Private to
// this module. One thread at a time. Errors as in connection.h.
#pragma once

#include <sqlite3.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "server/storage/connection.h"
#include "shared/base/result.h"

namespace gleaner::storage {

// "the store PATH is damaged (WHAT): " and what to do.
[[nodiscard]] Error damaged_store(const std::string& path, const std::string& what);

[[nodiscard]] Error missing_row();

class Database final : public Connection {
 public:
  enum class Create { no, yes };
  enum class Access { read, write };  // read: not even the log is written back
  // Opens and sets the pragmas of this module (WAL, synchronous=FULL, foreign keys).
  [[nodiscard]] static Result<std::unique_ptr<Database>> open(const std::string& path, Create create,
                                                              Access access = Access::write);
  ~Database() override;
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  // Several statements, not kept: pragmas and migrations.
  [[nodiscard]] Status execute(const char* sql);
  // All of it as it is at one moment, whatever others write meanwhile (SQLite's online backup).
  [[nodiscard]] Status copy_into(Database& target);

  Status execute_schema(const char* sql) override { return execute(sql); }
  Result<int> schema_version() override;
  Status check() override;                                  // PRAGMA quick_check
  Result<std::vector<std::string>> find_damage() override;  // PRAGMA integrity_check
  Result<std::int64_t> disk_bytes() override;
  Result<std::int64_t> next_number(const Table& table) override;
  Status note_number(const Table& table, std::int64_t number) override;
  Status begin() override;
  Status commit() override;
  void rollback() override;
  bool changed() const override { return sqlite3_total_changes64(connection_) != changes_before_; }
  Status may_write() const override;
  Error damaged(const std::string& what) const override { return damaged_store(path_, what); }

 private:
  class Run;  // a statement of it
  explicit Database(std::string path);
  Statement& statement(std::string_view sql) override;
  Statement& put_statement(const Table& table) override;
  Statement& find_statement(const Table& table) override;
  // What `code` means to a person; remembers that the transaction is lost if it is.
  [[nodiscard]] Error fail(int code);
  [[nodiscard]] Error fail_prepare();
  [[nodiscard]] Error describe(int code) const;

  std::string path_;
  sqlite3* connection_ = nullptr;
  // Texts are literals, some of a thousand characters: told apart by where they are before they are compared.
  struct ByPlace {
    std::size_t operator()(std::string_view text) const { return std::hash<const void*>{}(text.data()); }
  };
  std::unordered_map<std::string_view, std::unique_ptr<Run>, ByPlace> statements_;
  struct OfTable {
    std::string text;
    std::unique_ptr<Run> run;
  };
  std::unordered_map<const Table*, OfTable> puts_, finds_;
  bool in_transaction_ = false;
  std::int64_t changes_before_ = 0;  // of the open transaction
  std::optional<Error> lost_;        // why the transaction cannot be committed any more
};

}  // namespace gleaner::storage
