#include "server/service/operator/table_pages.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <numeric>
#include <utility>

#include "shared/base/clean_text.h"
#include "shared/base/limits.h"

namespace gleaner::service {
namespace {

constexpr Duration kept_for = std::chrono::minutes{1};
constexpr std::size_t shown_bytes_max = 200;  // of a value
constexpr const char* status_column = "status";

std::optional<std::size_t> column_of(const CsvTable& table, const std::string& name) {
  const auto& columns = table.columns();
  const auto found = std::find(columns.begin(), columns.end(), name);
  if (found == columns.end()) return std::nullopt;
  return static_cast<std::size_t>(found - columns.begin());
}

// A value among those of its column: numbers by size, then texts, then nothing.
struct Key {
  double number = 0;
  std::string text;  // of what is no number
  int kind = 0;      // 0 number, 1 text, 2 nothing
};

Key key_of(std::string value) {
  if (value.empty()) return {0, {}, 2};
  char* end = nullptr;
  const double number = std::strtod(value.c_str(), &end);
  if (*end == '\0' && std::isfinite(number)) return {number, {}, 0};
  return {0, std::move(value), 1};
}

// Rows without a value come last, whichever way round; equal ones stay in the order of the file.
void sort_rows(const CsvTable& table, std::size_t column, bool descending, std::vector<std::uint32_t>& rows) {
  std::vector<std::pair<Key, std::uint32_t>> keys;
  keys.reserve(rows.size());
  for (const std::uint32_t row : rows) keys.emplace_back(key_of(table.value(row, column)), row);
  std::stable_sort(keys.begin(), keys.end(), [descending](const auto& left, const auto& right) {
    const Key& a = left.first;
    const Key& b = right.first;
    if ((a.kind == 2) != (b.kind == 2)) return b.kind == 2;
    const Key& first = descending ? b : a;
    const Key& last = descending ? a : b;
    if (first.kind != last.kind) return first.kind < last.kind;
    return first.kind == 0 ? first.number < last.number : first.text < last.text;
  });
  for (std::size_t i = 0; i < keys.size(); ++i) rows[i] = keys[i].second;
}

}  // namespace

void TablePages::page(TableQuery query, Done<protocol::TablePage> done) {
  kernel_.on_blob_pool([this, query = std::move(query), done = std::move(done)] { done(make(query)); });
}

void TablePages::tick() {
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (lock.owns_lock() && opened_ && kernel_.clock().steady() - used_ > kept_for) opened_.reset();
}

Result<protocol::TablePage> TablePages::make(const TableQuery& query) {
  if (query.from < 0 || query.count < 1 || query.count > limits::table_page_rows_max)
    return Error{ErrorKind::invalid, "count: expected 1 to " + std::to_string(limits::table_page_rows_max)};
  const std::lock_guard lock(mutex_);
  if (!opened_ || opened_->digest != query.digest) TRY(open(query.digest));
  used_ = kernel_.clock().steady();
  TRY(choose(query));
  protocol::TablePage page;
  for (const std::string& column : opened_->table.columns())
    page.columns.push_back(clean_text(column, shown_bytes_max));
  page.rows = opened_->table.rows();
  page.failed = std::ssize(opened_->failed);
  page.chosen = std::ssize(opened_->chosen);
  page.first = std::min(query.from, page.chosen);
  const std::int64_t end = std::min(page.first + query.count, page.chosen);
  for (std::int64_t at = page.first; at < end; ++at) {
    protocol::TableRow& row = page.page.emplace_back();
    for (const std::string& value : opened_->table.row(opened_->chosen[static_cast<std::size_t>(at)]))
      row.values.push_back(clean_text(value, shown_bytes_max));
  }
  return page;
}

Status TablePages::open(const std::string& digest) {
  opened_.reset();
  if (!storage::BlobStore::is_digest(digest))
    return Error{ErrorKind::invalid, "a table is named by the SHA-256 of its file, 64 hex digits"};
  TRY_ASSIGN(Bytes text, kernel_.blobs().read(digest, csv_bytes_max));
  auto table = CsvTable::parse(std::move(text));
  if (!table.ok()) return table.error().within("the file is no table");
  opened_ = std::make_unique<Opened>(Opened{digest, std::move(*table)});
  const auto status = column_of(opened_->table, status_column);
  for (std::int64_t row = 0; status && row < opened_->table.rows(); ++row)
    if (opened_->table.value(row, *status) != "ok")
      opened_->failed.push_back(static_cast<std::uint32_t>(row));
  return {};
}

Status TablePages::choose(const TableQuery& query) {
  Opened& opened = *opened_;
  if (opened.ordered && opened.order == query.order && opened.descending == query.descending &&
      opened.only_failed == query.failed)
    return {};
  const auto column = column_of(opened.table, query.order);
  if (!query.order.empty() && !column)
    return Error{ErrorKind::invalid,
                 "order: the table has no column " + clean_line(query.order, shown_bytes_max)};
  std::vector<std::uint32_t> rows = opened.failed;
  if (!query.failed) {
    rows.resize(static_cast<std::size_t>(opened.table.rows()));
    std::iota(rows.begin(), rows.end(), 0U);
  }
  if (column) sort_rows(opened.table, *column, query.descending, rows);
  opened.chosen = std::move(rows);
  opened.order = query.order;
  opened.descending = query.descending;
  opened.only_failed = query.failed;
  opened.ordered = true;
  return {};
}

}  // namespace gleaner::service
