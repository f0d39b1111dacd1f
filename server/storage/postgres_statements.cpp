#include "server/storage/postgres_statements.h"

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

std::string_view Postgres::Row::next() {
  if (answer_ == nullptr) {
    const std::string_view element = first_element(gathered_);
    gathered_.remove_prefix(element.size());
    ++column_;
    return element.substr(4);
  }
  const int column = column_++;
  return {PQgetvalue(answer_.get(), 0, column),
          static_cast<std::size_t>(PQgetlength(answer_.get(), 0, column))};
}

void Postgres::Row::take(std::string& text_or_bytes) {
  const bool bytes = answer_ != nullptr ? PQftype(answer_.get(), column_) == oid::bytea : is_bytes(column_);
  const std::string_view value = next();
  text_or_bytes = bytes ? std::string(value) : text_from(value);
}

Postgres::Run::Run(Postgres& database, std::string_view sql)
    : database_(database), prepared_(database.prepared(numbered(sql))) {}

Result<bool> Postgres::Run::step() {
  if (!std::exchange(done_, true)) {
    if (database_.lost_) return *database_.lost_;
    database_.flush();
    database_.begin_there();
    database_.pipeline_->send(prepared_, values_);
    if (const Status begun = database_.pipeline_->stream(); !begun.ok()) return database_.lose(begun.error());
    has_more_ = true;
  }
  column_ = 0;
  if (!has_more_) return false;
  auto row = database_.pipeline_->next();
  has_more_ = row.ok() && *row != nullptr;
  if (!row.ok()) return database_.lose(row.error());
  answer_ = std::move(*row);
  return has_more_;
}

// What fails now is told by whatever comes next.
void Postgres::Run::reset() {
  if (std::exchange(has_more_, false)) (void)database_.sync();
  Row::reset();
}

Status Postgres::Run::run() {
  TRY(database_.may_write());
  database_.flush();
  database_.begin_there();
  database_.pipeline_->send(prepared_, values_);
  database_.wrote_ = true;
  if (database_.pipeline_->sent() < sent_max) return {};
  TRY(database_.sync());
  return {};
}

Result<std::int64_t> Postgres::Run::apply() {
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

Postgres::Put::Put(Postgres& database, const Table& table)
    : database_(database), table_(table), prepared_(database.prepared(put_text(table))) {
  for (const auto& other : database.in_order_)
    if (other->table_.name == table.name) {
      siblings_.push_back(other.get());
      other->siblings_.push_back(this);
    }
}

Result<bool> Postgres::Put::step() {
  TRY(run());
  return false;
}

Status Postgres::Put::run() {
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

Result<std::int64_t> Postgres::Put::apply() {
  TRY(run());
  flush();
  TRY(database_.sync());
  return 1;
}

void Postgres::Put::flush() {
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

void Postgres::Put::forget() {
  rows_.clear();
  bytes_ = 0;
}

std::optional<std::string_view> Postgres::Put::gathered(std::string_view key) const {
  const auto found = rows_.find(std::string(key));
  if (found == rows_.end()) return std::nullopt;
  return found->second;
}

Postgres::Find::Find(Postgres& database, const Table& table)
    : database_(database),
      table_(table),
      put_(static_cast<Put&>(database.put_statement(table))),
      prepared_(database.prepared(numbered(find_text(table)))) {}

Result<bool> Postgres::Find::step() {
  if (std::exchange(done_, true)) return false;  // a key has one row
  if (database_.lost_) return *database_.lost_;
  if (const auto row = put_.gathered(values_.encoded())) {
    gathered_ = *row;
    return true;
  }
  database_.begin_there();
  database_.pipeline_->send(prepared_, values_);
  TRY_ASSIGN(answer_, database_.sync());
  return PQntuples(answer_.get()) > 0;
}

Status Postgres::Find::run() {
  TRY(step());
  return {};
}

Result<std::int64_t> Postgres::Find::apply() {
  TRY(step());
  return 0;
}

}  // namespace gleaner::storage
