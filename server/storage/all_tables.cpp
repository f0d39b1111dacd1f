#include "server/storage/all_tables.h"

#include <bit>
#include <cstddef>

#include "server/storage/stored_problems.h"
#include "server/storage/stored_project.h"
#include "shared/base/encoding.h"
#include "shared/crypto/keys.h"

namespace gleaner::storage {
namespace {

using Type = Column::Type;

constexpr std::size_t digest_bytes = 32;

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
  };
}

void append_number(Bytes& to, std::uint64_t number) {
  for (int shift = 0; shift < 64; shift += 8) to.push_back(static_cast<char>(number >> shift & 0xFF));
}

void append_column(Type type, Query& row, Bytes& to) {
  std::int64_t number = 0;
  double real = 0;
  std::string text;
  switch (type) {
    case Type::integer:
      row.take(number);
      return append_number(to, static_cast<std::uint64_t>(number));
    case Type::real:
      row.take(real);
      return append_number(to, std::bit_cast<std::uint64_t>(real == 0 ? 0.0 : real));  // SQLite has no -0
    case Type::digest:
      row.take_digest(text);
      break;
    case Type::text:
    case Type::bytes:
      row.take(text);
  }
  append_number(to, text.size());
  to += text;
}

}  // namespace

WholeTable::WholeTable(Table described, const std::string& which) : table(std::move(described)), ordered(0) {
  table.put = Table::Put::replace;
  while (ordered < table.keys && table.columns[ordered].type == Type::integer) ++ordered;
  const auto first = table.columns.begin();
  const auto key = [&](std::size_t columns) {
    return std::vector<Column>(first, first + static_cast<std::ptrdiff_t>(columns));
  };
  const std::string where = which.empty() ? "" : " WHERE " + which;
  const std::string by_key = " ORDER BY " + listed(key(table.keys));
  count = "SELECT count(*) FROM " + table.name + where;
  rows = select_text(table) + where + by_key;
  clear = "DELETE FROM " + table.name;
  if (ordered == 0) return;
  std::string places, backwards;
  for (const Column& column : key(ordered)) {
    places += places.empty() ? "?" : ", ?";
    backwards += (backwards.empty() ? " ORDER BY " : ", ") + column.name + " DESC";
  }
  rest = select_text(table) + " WHERE (" + listed(key(ordered)) + ") >= (" + places + ")" + by_key;
  last = "SELECT " + listed(key(ordered)) + " FROM " + table.name + backwards + " LIMIT 1";
}

const std::vector<WholeTable>& all_tables() {
  static const std::vector<WholeTable> tables = make_tables();
  return tables;
}

std::vector<const Table*> numbered_tables() {
  return {&table_of<HostRow>(), &table_of<ApplicationRow>(), &table_of<ProblemRow>()};
}

void pass_column(Type type, Query& from, Query& to) {
  std::int64_t number = 0;
  double real = 0;
  std::string text;
  switch (type) {
    case Type::integer:
      from.take(number);
      return (void)to.add(number);
    case Type::real:
      from.take(real);
      return (void)to.add(real);
    case Type::text:
      from.take(text);
      return (void)to.add(std::string_view(text));
    case Type::bytes:
      from.take(text);
      return (void)to.add_bytes(text);
    case Type::digest:
      from.take_digest(text);
      to.add_digest(text);
  }
}

Result<TableSum> sum_of(Connection& connection, const WholeTable& table,
                        const std::function<void()>& row_read) {
  TableSum sum;
  Bytes digest(digest_bytes, '\0'), row;
  Query query = connection.query(table.rows);
  for (;; ++sum.rows) {
    TRY_ASSIGN(const bool found, query.step());
    if (!found) break;
    row.clear();
    for (const Column& column : table.table.columns) append_column(column.type, query, row);
    const Bytes of_row = crypto::sha256(row);
    for (std::size_t i = 0; i < digest_bytes; ++i) digest[i] = static_cast<char>(digest[i] ^ of_row[i]);
    row_read();
  }
  sum.digest = to_hex(digest);
  return sum;
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
