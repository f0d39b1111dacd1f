#include "server/service/operator/table_pages.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <string_view>
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

// A value among those of its column: numbers by size, then texts, then nothing. 16 bytes, since there are a
// million of them; the texts are in `all`, each with its length before it.
struct Key {
  double number = 0;
  std::uint32_t text = 0;  // 1 + where it is; 0: a number
  std::uint32_t row = 0;
};
constexpr std::uint32_t no_value = ~std::uint32_t{0};  // instead of a text's place

struct Keys {
  std::vector<Key> keys;
  Bytes all;

  [[nodiscard]] std::string_view text(const Key& key) const {
    std::uint32_t length = 0;
    std::memcpy(&length, all.data() + (key.text - 1), sizeof length);
    return std::string_view(all).substr(key.text - 1 + sizeof length, length);
  }
  void add(std::uint32_t row, std::string_view value) {
    if (value.empty()) return keys.push_back({0, no_value, row});
    const std::string terminated(value);
    char* end = nullptr;
    const double number = std::strtod(terminated.c_str(), &end);
    if (*end == '\0' && std::isfinite(number)) return keys.push_back({number, 0, row});
    keys.push_back({0, static_cast<std::uint32_t>(all.size() + 1), row});
    const auto length = static_cast<std::uint32_t>(value.size());
    all.append(reinterpret_cast<const char*>(&length), sizeof length);
    all += value;
  }
  [[nodiscard]] int kind(const Key& key) const { return key.text == 0 ? 0 : key.text == no_value ? 2 : 1; }
  // Below 0: `a` comes first; 0: they are the same.
  [[nodiscard]] int compare(const Key& a, const Key& b) const {
    if (kind(a) != kind(b)) return kind(a) - kind(b);
    if (kind(a) == 1) return text(a).compare(text(b));
    return a.number < b.number ? -1 : a.number > b.number ? 1 : 0;
  }
};

// Rows without a value come last, whichever way round; equal ones stay in the order of the file.
void sort_rows(const CsvTable& table, std::size_t column, bool descending, std::vector<std::uint32_t>& rows) {
  Keys of;
  of.keys.reserve(rows.size());
  for (const std::uint32_t row : rows) of.add(row, table.value(row, column));
  std::sort(of.keys.begin(), of.keys.end(), [&](const Key& a, const Key& b) {
    const bool nothing = a.text == no_value || b.text == no_value;
    const int order = descending && !nothing ? of.compare(b, a) : of.compare(a, b);
    return order != 0 ? order < 0 : a.row < b.row;
  });
  for (std::size_t i = 0; i < of.keys.size(); ++i) rows[i] = of.keys[i].row;
}

}  // namespace

void TablePages::page(TableQuery query, Done<protocol::TablePage> done) {
  {
    const std::lock_guard lock(mutex_);
    if (waiting_.size() == waiting_max)
      return kernel_.on_pool([done = std::move(done)] {
        done(Error{ErrorKind::unavailable, "too many tables are asked for at once: try again in a moment"});
      });
    waiting_.push_back({std::move(query), std::move(done)});
    if (std::exchange(working_, true)) return;
  }
  kernel_.on_blob_pool([this] { work(); });
}

void TablePages::work() {
  Waiting next;
  {
    const std::lock_guard lock(mutex_);
    next = std::move(waiting_.front());
    waiting_.pop_front();
  }
  next.done(make(next.query));
  {
    const std::lock_guard lock(mutex_);
    working_ = !waiting_.empty();
    if (!working_) return;
  }
  kernel_.on_blob_pool([this] { work(); });
}

void TablePages::tick() {
  const std::lock_guard lock(mutex_);
  if (!working_ && opened_ && kernel_.clock().steady() - used_ > kept_for) opened_.reset();
}

Result<protocol::TablePage> TablePages::make(const TableQuery& query) {
  if (query.from < 0 || query.count < 1 || query.count > limits::table_page_rows_max)
    return Error{ErrorKind::invalid, "count: expected 1 to " + std::to_string(limits::table_page_rows_max)};
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
