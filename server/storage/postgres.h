// A database of PostgreSQL, or of what speaks as it does. Rows that are put are gathered by table and key,
// the last of each, and written by one statement a table (unnest() of arrays) before anything else is done
// and at the commit; other writes are sent and not waited for. So a transaction that reads nothing takes one
// round trip. Private to this module. One thread at a time. Errors as in connection.h.
//
// Who leads begins every transaction by making sure that it still does (lead()).
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "server/storage/connection.h"
#include "server/storage/pipeline.h"

namespace gleaner::storage {

class Postgres final : public Connection {
 public:
  [[nodiscard]] static Result<std::unique_ptr<Postgres>> open(const std::string& url);
  ~Postgres() override;
  Postgres(const Postgres&) = delete;
  Postgres& operator=(const Postgres&) = delete;

  // From now on every transaction fails unless `epoch` is the one in the table `leader`. `lost` is told once
  // if the connection breaks or another epoch has begun.
  void lead(std::int64_t epoch, std::function<void(const Error&)> lost);
  [[nodiscard]] const std::string& place() const { return pipeline_->place(); }
  // Several statements, at once, in PostgreSQL's own words.
  [[nodiscard]] Status execute(const std::string& sql);

  Status execute_schema(const char* sql) override;
  Result<int> schema_version() override;
  Status check() override { return {}; }                    // its checksums are its own
  Result<std::vector<std::string>> find_damage() override;  // reads every row
  // From now on every transaction reads what there is at its first statement, and writes nothing.
  [[nodiscard]] Status only_read() {
    return execute(
        "SET default_transaction_isolation = 'repeatable read'; SET default_transaction_read_only = on");
  }
  Result<std::int64_t> disk_bytes() override;  // of the database, without the cluster's log
  Result<std::int64_t> next_number(const Table& table) override;
  Status note_number(const Table& table, std::int64_t number) override;
  Status begin() override;
  Status commit() override;
  void rollback() override;
  bool changed() const override { return wrote_; }
  Status may_write() const override;
  Error damaged(const std::string& what) const override;

 private:
  class Row;
  class Run;
  class Put;
  class Find;
  explicit Postgres(std::unique_ptr<Pipeline> pipeline);
  Statement& statement(std::string_view sql) override;
  Statement& put_statement(const Table& table) override;
  Statement& find_statement(const Table& table) override;
  Prepared prepared(std::string sql);
  // Begins the transaction where the database is concerned: with the first statement.
  void begin_there();
  void flush();
  // Waits for all that was sent; remembers that the transaction is lost if it is.
  Result<Pipeline::Answer> sync();
  Error lose(Error error);

  std::unique_ptr<Pipeline> pipeline_;
  std::unordered_map<std::string_view, std::unique_ptr<Run>> runs_;
  std::unordered_map<const Table*, std::unique_ptr<Find>> finds_;
  std::unordered_map<const Table*, Put*> puts_;
  std::vector<std::unique_ptr<Put>> in_order_;  // of their first use
  int prepared_ = 0;
  Prepared begin_, fence_, commit_, rollback_, save_, release_, back_;
  Values epoch_;  // empty: nobody leads
  std::function<void(const Error&)> lost_lead_;
  bool in_transaction_ = false;
  bool begun_ = false;  // where the database is concerned
  bool wrote_ = false;
  std::optional<Error> lost_;  // why the transaction cannot be committed any more
};

// Statements of migrations.cpp, which are SQLite's, as PostgreSQL takes them.
[[nodiscard]] std::string postgres_schema(std::string_view sql);

}  // namespace gleaner::storage
