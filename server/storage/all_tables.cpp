#include "server/storage/all_tables.h"

#include <algorithm>
#include <bit>

#include "server/storage/stored_problems.h"
#include "server/storage/stored_project.h"
#include "server/storage/stored_relays.h"
#include "shared/base/check.h"
#include "shared/base/encoding.h"
#include "shared/crypto/keys.h"

namespace gleaner::storage {
namespace {

using Type = Column::Type;

// The one table that no struct describes (sql_store_stages.cpp).
Table stage_costs() {
  return {"stage_costs",
          2,
          Table::Put::replace,
          {{"problem", Type::integer},
           {"stage", Type::integer},
           {"digest", Type::bytes},
           {"count", Type::integer},
           {"costs", Type::bytes}}};
}

std::vector<WholeTable> make_tables() {
  const std::string not_ours =
      std::string("name <> '") + moving_value + "' AND name <> '" + moved_value + "'";
  std::string not_numbered;
  for (const Table* const each : numbered_tables())
    not_numbered += (not_numbered.empty() ? "name <> '" : " AND name <> '") + each->name + "'";
  return {
      WholeTable(table_of<NamedValue>(), not_ours),
      WholeTable(table_of<SequenceRow>(), not_numbered),
      WholeTable(table_of<HostRow>()),
      WholeTable(table_of<CodeRow>()),
      WholeTable(table_of<TokenRow>()),
      WholeTable(table_of<protocol::Act>()),
      WholeTable(table_of<protocol::RefusalCount>()),
      WholeTable(table_of<protocol::Ban>()),
      WholeTable(table_of<DayRow>()),
      WholeTable(table_of<StandingRow>()),
      WholeTable(table_of<ApplicationRow>()),
      WholeTable(table_of<ProblemRow>()),
      WholeTable(table_of<protocol::ResultFile>()),
      WholeTable(table_of<StageRow>()),
      WholeTable(stage_costs()),
      WholeTable(table_of<policy::Unit>()),
      WholeTable(table_of<policy::HostRecord>()),
      WholeTable(table_of<SegmentRow>()),
      WholeTable(table_of<SegmentBytes<>>()),
      WholeTable(table_of<PlacedAccepted>()),
      WholeTable(table_of<AcknowledgementRow>()),
      WholeTable(table_of<VerdictRow>()),
      WholeTable(table_of<FailureRow>()),
      WholeTable(table_of<DecisionRow>()),
      WholeTable(table_of<LeaseRow>()),
      WholeTable(table_of<DeliveryRow>()),
  };
}

void append_number(Bytes& to, std::uint64_t number) {
  for (int shift = 0; shift < 64; shift += 8) to.push_back(static_cast<char>(number >> shift & 0xFF));
}

void append_text(std::string_view text, Bytes& to) {
  append_number(to, text.size());
  to += text;
}

// The next column, in a form that is alike for every engine.
void read_column(Type type, Query& row, Bytes& to, Query* put) {
  std::int64_t number = 0;
  double real = 0;
  std::string text;
  switch (type) {
    case Type::integer:
      row.take(number);
      append_number(to, static_cast<std::uint64_t>(number));
      if (put != nullptr) put->add(number);
      return;
    case Type::real:
      row.take(real);
      append_number(to, std::bit_cast<std::uint64_t>(real == 0 ? 0.0 : real));  // SQLite has no -0
      if (put != nullptr) put->add(real);
      return;
    case Type::text:
      row.take(text);
      append_text(text, to);
      if (put != nullptr) put->add(std::string_view(text));
      return;
    case Type::bytes:
      row.take(text);
      append_text(text, to);
      if (put != nullptr) put->add_bytes(text);
      return;
    case Type::digest:
      row.take_digest(text);
      append_text(text, to);
      if (put != nullptr) put->add_digest(text);
  }
}

std::int64_t number_at(const Bytes& row, std::size_t index) {
  std::uint64_t number = 0;
  for (std::size_t i = 8; i > 0; --i)
    number = number << 8 | static_cast<unsigned char>(row[8 * index + i - 1]);
  return static_cast<std::int64_t>(number);
}

}  // namespace

WholeTable::WholeTable(Table described, const std::string& which) : table(std::move(described)), ordered(0) {
  table.put = Table::Put::replace;
  while (ordered < table.keys && table.columns[ordered].type == Type::integer) ++ordered;
  const auto first = table.columns.begin();
  const auto key = [&](std::size_t columns) {
    return std::vector<Column>(first, first + static_cast<std::ptrdiff_t>(columns));
  };
  CHECK_TRUE(ordered <= Place::numbers_max);
  const std::string where = which.empty() ? "" : " WHERE " + which;
  const std::string by_key = " ORDER BY " + listed(key(table.keys));
  count = "SELECT count(*) FROM " + table.name + where;
  rows = select_text(table) + where + by_key;
  remove = "DELETE FROM " + table.name + where;
  if (ordered == 0) return;
  std::string places, equal;
  for (const Column& column : key(ordered)) {
    places += places.empty() ? "?" : ", ?";
    equal += (equal.empty() ? " WHERE " : " AND ") + column.name + " = ?";
  }
  const std::string place = "(" + listed(key(ordered)) + ")";
  const std::string between =
      " WHERE " + place + " >= (" + places + ") AND " + place + " <= (" + places + ")";
  // The number makes sure that an index is used, whatever is believed of the table.
  range = select_text(table) + between + by_key + " LIMIT ?";
  remove += equal;
  remove_range = "DELETE FROM " + table.name + between;
}

void TableSum::add(const TableSum& more) {
  rows += more.rows;
  for (std::size_t i = 0; i < digest.size(); ++i) digest[i] = static_cast<char>(digest[i] ^ more.digest[i]);
}

std::string TableSum::digest_text() const {
  return to_hex({digest.data(), digest.size()});
}

const std::vector<WholeTable>& all_tables() {
  static const std::vector<WholeTable> tables = make_tables();
  return tables;
}

std::vector<const Table*> numbered_tables() {
  return {&table_of<HostRow>(), &table_of<ApplicationRow>(), &table_of<ProblemRow>()};
}

Result<std::optional<Place>> next_row(const WholeTable& table, Query& query, TableSum& sum, Query* put) {
  TRY_ASSIGN(const bool found, query.step());
  if (!found) return std::optional<Place>{};
  Bytes row;
  for (const Column& column : table.table.columns) read_column(column.type, query, row, put);
  TableSum of_row{1, {}};
  const Bytes digest = crypto::sha256(row);
  CHECK_TRUE(digest.size() == of_row.digest.size());
  std::copy(digest.begin(), digest.end(), of_row.digest.begin());
  sum.add(of_row);
  Place place;
  for (std::size_t i = 0; i < table.ordered; ++i) place.numbers[i] = number_at(row, i);
  return std::optional(place);
}

Result<TableSum> sum_of(Connection& connection, const WholeTable& table,
                        const std::function<void()>& row_read) {
  TableSum sum;
  Query query = connection.query(table.rows);
  for (;;) {
    TRY_ASSIGN(const auto place, next_row(table, query, sum));
    if (!place) return sum;
    row_read();
  }
}

Result<std::int64_t> count_rows(Connection& connection, const WholeTable& table) {
  Query query = connection.query(table.count);
  std::int64_t rows = 0;
  TRY_ASSIGN(const bool found, query.step());
  CHECK_TRUE(found);  // it has no condition
  query.take(rows);
  return rows;
}

}  // namespace gleaner::storage
