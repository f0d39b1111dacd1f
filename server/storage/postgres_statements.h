// The statements of a PostgreSQL connection: those of any text, those that gather rows, those that find one.
// Private to postgres*.cpp.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "server/storage/postgres.h"

namespace gleaner::storage {

// A statement's parameters, and the columns of the row that it is at.
class Postgres::Row : public Statement {
 public:
  void add(std::int64_t value) override { values_.add(value); }
  void add(double value) override { values_.add(value); }
  void add_text(std::string_view text) override { values_.add_text(text); }
  void add_bytes(std::string_view bytes) override { values_.add_bytes(bytes); }
  void add_digest(std::string_view digest) override { values_.add_digest(digest); }
  std::int64_t take_integer() override { return integer_from(next()); }
  double take_real() override { return real_from(next()); }
  void take(std::string& text_or_bytes) override;
  void take_digest(std::string& digest) override { digest = digest_from(next()); }
  void reset() override {
    values_.clear();
    answer_.reset();
    gathered_ = {};
    column_ = 0;
    done_ = false;
  }

 protected:
  [[nodiscard]] virtual bool is_bytes(int) const { return false; }
  std::string_view next();

  Values values_;
  Pipeline::Answer answer_;    // the row
  std::string_view gathered_;  // instead of it: one that is not written yet
  int column_ = 0;
  bool done_ = false;  // it was asked for
};

class Postgres::Run final : public Row {
 public:
  Run(Postgres& database, std::string_view sql);
  Result<bool> step() override;
  Status run() override;
  Result<std::int64_t> apply() override;
  void reset() override;

 private:
  Postgres& database_;
  Prepared prepared_;
  bool has_more_ = false;  // rows that are not taken yet
};

class Postgres::Put final : public Row {
 public:
  Put(Postgres& database, const Table& table);
  Result<bool> step() override;
  Status run() override;
  Result<std::int64_t> apply() override;

  // Sends what is gathered.
  void flush();
  void forget();
  // What is not sent yet of that key.
  [[nodiscard]] std::optional<std::string_view> gathered(std::string_view key) const;

 private:
  Postgres& database_;
  const Table& table_;
  Prepared prepared_;
  std::unordered_map<std::string, std::string> rows_;  // by key: each column behind its length
  std::size_t bytes_ = 0;
  std::vector<Put*> siblings_;  // that put other columns of the same table
};

class Postgres::Find final : public Row {
 public:
  Find(Postgres& database, const Table& table);
  Result<bool> step() override;
  Status run() override;
  Result<std::int64_t> apply() override;

 private:
  [[nodiscard]] bool is_bytes(int column) const override {
    return table_.columns[static_cast<std::size_t>(column)].type == Column::Type::bytes;
  }

  Postgres& database_;
  const Table& table_;
  Put& put_;
  Prepared prepared_;
};

}  // namespace gleaner::storage
