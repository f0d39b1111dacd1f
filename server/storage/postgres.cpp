#include "server/storage/postgres.h"

#include <cstdlib>
#include <utility>

namespace gleaner::storage {
namespace {

// Beyond them what is gathered is written, so that a large transaction takes no more memory.
constexpr std::size_t rows_gathered_max = 10'000;
constexpr std::size_t bytes_gathered_max = 8 << 20;
constexpr std::size_t sent_max = 500;  // statements not waited for

// "? ?" and "?2" as "$1 $2" and "$2".
std::string numbered(std::string_view sql) {
  std::string result;
  int last = 0;
  for (std::size_t i = 0; i < sql.size(); ++i) {
    if (sql[i] != '?') {
      result += sql[i];
      continue;
    }
    result += '$';
    if (i + 1 == sql.size() || sql[i + 1] < '0' || sql[i + 1] > '9') result += std::to_string(++last);
  }
  return result;
}

Oid oid_of(Column::Type type) {
  switch (type) {
    case Column::Type::integer:
      return oid::int8;
    case Column::Type::real:
      return oid::float8;
    case Column::Type::text:
      return oid::text;
    default:
      return oid::bytea;
  }
}

// Rows come as an array for each column.
std::string put_text(const Table& table) {
  std::string arrays;
  for (std::size_t i = 1; i <= table.columns.size(); ++i)
    arrays += (i == 1 ? "$" : ", $") + std::to_string(i);
  const std::string rows = "unnest(" + arrays + ") AS n (" + listed(table.columns) + ")";
  if (table.put != Table::Put::update)
    return "INSERT INTO " + table.name + " (" + listed(table.columns) + ") SELECT " +
           listed(table.columns, "n.") + " FROM " + rows + conflict_text(table);
  std::string set, where;
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    const std::string& name = table.columns[i].name;
    if (i < table.keys)
      where += (where.empty() ? " WHERE " : " AND ") + table.name + "." + name + " = n." + name;
    else
      set += (set.empty() ? " SET " : ", ") + name + " = n." + name;
  }
  // No root of a negative number: an error, and with it no commit, where fewer rows are there than are put.
  return "WITH changed AS (UPDATE " + table.name + set + " FROM " + rows + where +
         " RETURNING 1) SELECT sqrt(count(*) - cardinality($1)) FROM changed";
}

// The first element of `encoded`, each behind its length, with its length.
std::string_view first_element(std::string_view encoded) {
  std::size_t length = 0;
  for (std::size_t i = 0; i < 4; ++i) length = length << 8 | static_cast<unsigned char>(encoded[i]);
  return encoded.substr(0, 4 + length);
}

}  // namespace

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
  void take(std::string& text_or_bytes) override {
    const bool bytes = answer_ != nullptr ? PQftype(answer_.get(), column_) == oid::bytea : is_bytes(column_);
    const std::string_view value = next();
    text_or_bytes = bytes ? std::string(value) : text_from(value);
  }
  void take_digest(std::string& digest) override { digest = digest_from(next()); }
  void reset() override {
    values_.clear();
    answer_.reset();
    gathered_ = {};
    row_ = -1;
    column_ = 0;
    done_ = false;
  }

 protected:
  [[nodiscard]] virtual bool is_bytes(int) const { return false; }
  std::string_view next() {
    if (answer_ == nullptr) {
      const std::string_view element = first_element(gathered_);
      gathered_.remove_prefix(element.size());
      ++column_;
      return element.substr(4);
    }
    const int column = column_++;
    return {PQgetvalue(answer_.get(), row_, column),
            static_cast<std::size_t>(PQgetlength(answer_.get(), row_, column))};
  }
  // The next row of the answer.
  bool advance() {
    column_ = 0;
    return ++row_ < PQntuples(answer_.get());
  }

  Values values_;
  Pipeline::Answer answer_;
  std::string_view gathered_;  // instead of an answer: a row that is not written yet
  int row_ = -1, column_ = 0;
  bool done_ = false;  // it was asked for
};

class Postgres::Run final : public Row {
 public:
  Run(Postgres& database, std::string_view sql)
      : database_(database), prepared_(database.prepared(numbered(sql))) {}

  Result<bool> step() override {
    if (!std::exchange(done_, true)) {
      if (database_.lost_) return *database_.lost_;
      database_.flush();
      database_.begin_there();
      database_.pipeline_->send(prepared_, values_);
      TRY_ASSIGN(answer_, database_.sync());
    }
    return advance();
  }
  Status run() override {
    TRY(database_.may_write());
    database_.flush();
    database_.begin_there();
    database_.pipeline_->send(prepared_, values_);
    database_.wrote_ = true;
    if (database_.pipeline_->sent() < sent_max) return {};
    TRY(database_.sync());
    return {};
  }
  Result<std::int64_t> apply() override {
    TRY(database_.may_write());
    Pipeline& pipeline = *database_.pipeline_;
    database_.flush();
    database_.begin_there();
    TRY(database_.sync());
    pipeline.send(database_.save_, {});
    pipeline.send(prepared_, values_);
    auto applied = pipeline.sync();
    if (!applied.ok()) {
      const ErrorKind kind = applied.error().kind;
      if (kind != ErrorKind::conflict && kind != ErrorKind::not_found) return database_.lose(applied.error());
      pipeline.send(database_.back_, {});
      TRY(database_.sync());
      return applied.error();
    }
    const std::int64_t changed = std::strtoll(PQcmdTuples(applied->get()), nullptr, 10);
    pipeline.send(database_.release_, {});  // told with what comes next
    database_.wrote_ = database_.wrote_ || changed > 0;
    return changed;
  }

 private:
  Postgres& database_;
  Prepared prepared_;
};

class Postgres::Put final : public Row {
 public:
  Put(Postgres& database, const Table& table)
      : database_(database), table_(table), prepared_(database.prepared(put_text(table))) {
    for (const auto& other : database.in_order_)
      if (other->table_.name == table.name) {
        siblings_.push_back(other.get());
        other->siblings_.push_back(this);
      }
  }

  Result<bool> step() override {
    TRY(run());
    return false;
  }
  Status run() override {
    TRY(database_.may_write());
    for (Put* const other : siblings_) other->flush();
    std::size_t key = 0;
    for (std::size_t i = 0; i < table_.keys; ++i) key += values_.element(i).size();
    const std::string_view row = values_.encoded();
    const auto [place, added] = rows_.try_emplace(std::string(row.substr(0, key)), row);
    if (!added) {
      if (table_.put == Table::Put::insert)
        return Error{ErrorKind::conflict, "there is one like that already in " + table_.name};
      place->second = row;
    }
    bytes_ += row.size();
    database_.wrote_ = true;
    if (rows_.size() >= rows_gathered_max || bytes_ >= bytes_gathered_max) flush();
    return {};
  }
  Result<std::int64_t> apply() override {
    TRY(run());
    flush();
    TRY(database_.sync());
    return 1;
  }

  void flush() {
    if (rows_.empty()) return;
    std::vector<std::string> columns(table_.columns.size());
    for (const auto& [key, row] : rows_) {
      std::string_view rest = row;
      for (std::string& column : columns) {
        const std::string_view element = first_element(rest);
        column += element;
        rest.remove_prefix(element.size());
      }
    }
    const auto count = static_cast<std::int32_t>(rows_.size());
    Values arrays;
    for (std::size_t i = 0; i < columns.size(); ++i)
      arrays.add_array(oid_of(table_.columns[i].type), count, columns[i]);
    forget();
    database_.begin_there();
    database_.pipeline_->send(prepared_, arrays);
  }
  void forget() {
    rows_.clear();
    bytes_ = 0;
  }
  // What is not written yet of that key.
  [[nodiscard]] std::optional<std::string_view> gathered(std::string_view key) const {
    const auto found = rows_.find(std::string(key));
    if (found == rows_.end()) return std::nullopt;
    return found->second;
  }

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
  Find(Postgres& database, const Table& table)
      : database_(database),
        table_(table),
        put_(static_cast<Put&>(database.put_statement(table))),
        prepared_(database.prepared(numbered(find_text(table)))) {}

  Result<bool> step() override {
    if (std::exchange(done_, true)) return false;  // a key has one row
    if (database_.lost_) return *database_.lost_;
    if (const auto row = put_.gathered(values_.encoded())) {
      gathered_ = *row;
      return true;
    }
    database_.begin_there();
    database_.pipeline_->send(prepared_, values_);
    TRY_ASSIGN(answer_, database_.sync());
    return advance();
  }
  Status run() override {
    TRY(step());
    return {};
  }
  Result<std::int64_t> apply() override {
    TRY(step());
    return 0;
  }

 private:
  [[nodiscard]] bool is_bytes(int column) const override {
    return table_.columns[static_cast<std::size_t>(column)].type == Column::Type::bytes;
  }

  Postgres& database_;
  const Table& table_;
  Put& put_;
  Prepared prepared_;
};

Postgres::Postgres(std::unique_ptr<Pipeline> pipeline)
    : pipeline_(std::move(pipeline)),
      begin_(prepared("BEGIN")),
      // Divides by zero unless the epoch is there: an error ends all that was sent behind it, where no row
      // would end nothing. No lock: who takes over has ended this connection before (leadership.h).
      fence_(prepared("SELECT 1 / count(*) FROM leader WHERE epoch = $1")),
      commit_(prepared("COMMIT")),
      rollback_(prepared("ROLLBACK")),
      save_(prepared("SAVEPOINT one")),
      release_(prepared("RELEASE SAVEPOINT one")),
      back_(prepared("ROLLBACK TO SAVEPOINT one")) {}

Postgres::~Postgres() {
  rollback();
}

Result<std::unique_ptr<Postgres>> Postgres::open(const std::string& url) {
  TRY_ASSIGN(auto pipeline, Pipeline::connect(url));
  return std::unique_ptr<Postgres>(new Postgres(std::move(pipeline)));
}

void Postgres::lead(std::int64_t epoch, std::function<void(const Error&)> lost) {
  epoch_.clear();
  epoch_.add(epoch);
  lost_lead_ = std::move(lost);
}

Prepared Postgres::prepared(std::string sql) {
  return {"s" + std::to_string(++prepared_), std::move(sql)};
}

Statement& Postgres::statement(std::string_view sql) {
  auto& run = runs_[sql];
  if (run == nullptr) run = std::make_unique<Run>(*this, sql);
  return *run;
}

Statement& Postgres::put_statement(const Table& table) {
  Put*& put = puts_[&table];
  if (put == nullptr) {
    auto made = std::make_unique<Put>(*this, table);
    put = made.get();
    in_order_.push_back(std::move(made));
  }
  return *put;
}

Statement& Postgres::find_statement(const Table& table) {
  auto& find = finds_[&table];
  if (find == nullptr) find = std::make_unique<Find>(*this, table);
  return *find;
}

Status Postgres::execute(const std::string& sql) {
  flush();
  begin_there();
  TRY(sync());
  const Status done = pipeline_->execute(sql);
  if (!done.ok()) return lose(done.error());
  wrote_ = true;
  return {};
}

Status Postgres::execute_schema(const char* sql) {
  return execute(postgres_schema(sql));
}

Result<int> Postgres::schema_version() {
  std::int64_t tables = 0, ours = 0, version = 0;
  {
    Query query = this->query(
        "SELECT count(*), count(nullif(table_name <> 'schema_version', true)) FROM information_schema.tables "
        "WHERE table_schema = current_schema() AND table_name <> 'leader'");
    TRY_ASSIGN(const bool found, query.step());
    CHECK_TRUE(found);
    query.take_all(tables, ours);
  }
  if (tables == 0) return 0;
  if (ours == 0)
    return Error{ErrorKind::invalid, place() +
                                         " has tables of another program: make a database "
                                         "for this project alone"};
  Query query = this->query("SELECT max(version) FROM schema_version");
  TRY_ASSIGN(const bool found, query.step());
  if (found) query.take(version);
  if (version < 1) return damaged("it has no schema version");
  return static_cast<int>(version);
}

Result<std::int64_t> Postgres::next_number(const Table& table) {
  Query query = this->query("SELECT coalesce((SELECT next FROM sequences WHERE name = ?), 1)");
  std::int64_t number = 0;
  TRY_ASSIGN(const bool found, query.add(table.name).step());
  CHECK_TRUE(found);
  query.take(number);
  return number;
}

Status Postgres::note_number(const Table& table, std::int64_t number) {
  return this
      ->query(
          "INSERT INTO sequences (name, next) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET next = "
          "greatest(sequences.next, excluded.next)")
      .add(table.name)
      .add(number + 1)
      .run();
}

Status Postgres::begin() {
  if (pipeline_->broken()) return lose(*pipeline_->broken());
  if (in_transaction_) return Error{ErrorKind::internal, "a transaction is open already"};
  in_transaction_ = true;
  wrote_ = false;
  return {};
}

void Postgres::begin_there() {
  if (!in_transaction_ || std::exchange(begun_, true)) return;
  pipeline_->send(begin_, {});
  if (epoch_.count() > 0) pipeline_->send(fence_, epoch_);
}

void Postgres::flush() {
  for (const auto& put : in_order_) put->flush();
}

Result<Pipeline::Answer> Postgres::sync() {
  auto answer = pipeline_->sync();
  if (!answer.ok()) return lose(answer.error());
  return answer;
}

// An error of what was sent some time before: by now the database takes nothing more of the transaction.
Error Postgres::lose(Error error) {
  if (in_transaction_ && !lost_) lost_ = error;
  if (error.kind == ErrorKind::unavailable && lost_lead_) std::exchange(lost_lead_, nullptr)(error);
  return error;
}

Status Postgres::may_write() const {
  if (lost_) return *lost_;
  if (!in_transaction_) return Error{ErrorKind::internal, "the store was written to outside a transaction"};
  return {};
}

Status Postgres::commit() {
  Status done = may_write();
  if (done.ok()) {
    flush();
    begin_there();
    pipeline_->send(commit_, {}, Pipeline::Kind::commit);
    if (const auto answer = sync(); !answer.ok()) done = answer.error();
  }
  if (!done.ok()) {
    rollback();
    return done;
  }
  in_transaction_ = begun_ = false;
  return {};
}

void Postgres::rollback() {
  for (const auto& put : in_order_) put->forget();
  if (std::exchange(begun_, false)) {
    // What fails here ends with the connection: nothing of it is committed.
    (void)pipeline_->sync();
    pipeline_->send(rollback_, {});
    (void)pipeline_->sync();
  }
  in_transaction_ = false;
  lost_.reset();
}

Error Postgres::damaged(const std::string& what) const {
  return {ErrorKind::invalid, place() + " is damaged (" + what + "): restore the newest backup"};
}

}  // namespace gleaner::storage
