#include "server/storage/postgres.h"

#include <utility>

#include "server/storage/all_tables.h"
#include "server/storage/migrations.h"
#include "server/storage/postgres_statements.h"

namespace gleaner::storage {

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

Result<std::vector<std::string>> Postgres::find_damage() {
  std::vector<std::string> lines;
  TRY_ASSIGN(const int version, schema_version());
  if (version != migrations().back().version) return lines;  // it has not every column yet
  for (const WholeTable& table : all_tables()) {
    const auto read = sum_of(*this, table, [] {});
    if (read.ok()) continue;
    if (read.error().kind == ErrorKind::unavailable) return read.error();
    lines.push_back(table.table.name + ": " + read.error().message);
  }
  return lines;
}

Result<std::int64_t> Postgres::disk_bytes() {
  Query query = this->query("SELECT pg_database_size(current_database())");
  std::int64_t bytes = 0;
  TRY_ASSIGN(const bool found, query.step());
  CHECK_TRUE(found);
  query.take(bytes);
  return bytes;
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
