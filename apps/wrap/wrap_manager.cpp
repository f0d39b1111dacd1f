#include "apps/wrap/wrap_manager.h"

#include <algorithm>
#include <fstream>
#include <numeric>

#include "apps/wrap/comparison.h"
#include "apps/wrap/numbers.h"
#include "apps/wrap/tar.h"
#include "shared/base/row_index.h"

namespace gleaner::wrap {
namespace {

constexpr int hung_max = 3;     // of the author's comparison
constexpr int again_part = 10;  // of its patience, once it has hung

constexpr const char* status_column = "status";
constexpr const char* row_column = "row";
constexpr const char* seconds_column = "seconds";
constexpr const char* host_column = "host";

// Is it the table of results of another problem? Then these columns tell of its runs.
bool are_results(const std::vector<std::string>& columns) {
  constexpr std::size_t own = 4;
  return columns.size() >= own && columns.front() == row_column && columns.end()[-3] == status_column &&
         columns.end()[-2] == seconds_column && columns.back() == host_column;
}

// Of a row of such a table, or of its names: all but these.
std::vector<std::string> without_own(std::vector<std::string> values) {
  values.erase(values.end() - 3, values.end());
  values.erase(values.begin());
  return values;
}

std::string six_digits(std::int64_t row) {
  const std::string text = std::to_string(row);
  return std::string(text.size() < 6 ? 6 - text.size() : 0, '0') + text;
}

Result<std::vector<std::int64_t>> sizes(const Items& items) {
  std::vector<std::int64_t> bytes;
  for (std::int64_t item = 0; item < items.count(); ++item) {
    std::error_code failure;
    const auto size = std::filesystem::file_size(items.file(item), failure);
    if (failure)
      return Error{ErrorKind::io, "cannot read input " + items.name(item) + ": " + failure.message()};
    bytes.push_back(static_cast<std::int64_t>(size));
  }
  return bytes;
}

}  // namespace

Status WrapManager::check(const kit::Problem& problem) {
  TRY_ASSIGN(kit::Parameters parameters, problem.parameters());
  TRY(parameters.finish());
  TRY_ASSIGN(items_, Items::read(command_, problem));
  TRY(items_->check(command_));
  numbers_.clear();
  try {
    for (const auto& [name, expression] : command_.numbers) numbers_.emplace_back(name, expression);
  } catch (const std::regex_error&) {
    return Error{ErrorKind::invalid, "an expression of [wrap.numbers] is none: sign the bundle again"};
  }
  if (!items_->are_rows()) return {};
  after_results_ = are_results(items_->columns());
  std::vector<std::string> added{row_column, status_column, seconds_column, host_column};
  for (const auto& [name, expression] : numbers_) added.push_back(name);
  for (const std::string& column : kept(items_->columns()))
    if (std::find(added.begin(), added.end(), column) != added.end())
      return Error{ErrorKind::invalid, std::string(table_name) + ": the results have a column " + column +
                                           " of their own: call the table's otherwise"};
  return {};
}

// Costs of files are by size: the best guess about a program that nobody knows. Of rows there is none.
Result<std::optional<kit::Stage>> WrapManager::plan(int stage) {
  if (stage > 0) return std::optional<kit::Stage>{};
  kit::Stage planned{items_->count(), items_->are_rows() ? "rows" : "files", {}, {}};
  if (items_->are_rows()) return std::optional(std::move(planned));
  TRY_ASSIGN(const auto all, sizes(*items_));
  const double mean = std::accumulate(all.begin(), all.end(), 1.0) / static_cast<double>(all.size());
  for (const std::int64_t bytes : all)
    planned.hints.push_back({(static_cast<double>(bytes) + 1) / (mean + 1), {bytes}});
  return std::optional(std::move(planned));
}

Result<Outcome> WrapManager::outcome(std::int64_t item, std::string_view bytes) const {
  TRY_ASSIGN(Outcome found, unseal(items_->identity(item), command_.endings.size(), bytes));
  if (!found.status.empty() && !items_->are_rows())
    return Error{ErrorKind::invalid, "a file has no failure to keep"};
  return found;
}

Result<kit::Validation> WrapManager::validate(int stage, kit::SegmentReader& segment) {
  return kit::check_each(segment, stage == 0 ? items_->count() : 0, "item",
                         [&](std::int64_t item, std::string_view bytes) -> Status {
                           TRY(outcome(item, bytes));
                           return {};
                         });
}

Result<std::string> WrapManager::compare(int stage, std::int64_t item, std::string_view a,
                                         std::string_view b) {
  if (a == b) return std::string();
  TRY_ASSIGN(const Outcome one, outcome(item, a));
  TRY_ASSIGN(const Outcome other, outcome(item, b));
  if (one.status != other.status) return std::string("they ended otherwise");
  // The last words of a program often have an address, a process number or a time.
  if (!one.status.empty()) return std::string();
  if (command_.compare.empty()) return Manager::compare(stage, item, a, b);
  if (hung_ >= hung_max)
    return std::string(failure_mark) + command_.compare.filename().string() + " took too long " +
           std::to_string(hung_max) + " times: it is not asked any more";
  const Comparison comparison(command_.bundle / command_.compare,
                              hung_ == 0 ? patience_ : patience_ / again_part);
  for (std::size_t i = 0; i < one.files.size(); ++i) {
    if (one.files[i] == other.files[i]) continue;
    TRY_ASSIGN(const std::string difference,
               comparison.of(command_.endings[i], one.files[i], other.files[i]));
    if (comparison.late()) ++hung_;
    if (difference.starts_with(failure_mark)) return difference;
    if (!difference.empty()) return output_file(command_.endings[i]) + ": " + difference;
  }
  return std::string();
}

Status WrapManager::write_files(kit::ItemSource& items, kit::Output& output) const {
  for (;;) {
    TRY_ASSIGN(const auto item, items.next());
    if (!item) return {};
    TRY_ASSIGN(const Outcome kept, outcome(item->index, item->bytes));
    for (std::size_t i = 0; i < kept.files.size(); ++i) {
      const std::string name = items_->name(item->index) + command_.endings[i];
      TRY(kit::write_file(output.directory() / name, kept.files[i]));
      output.result(name, "application/octet-stream");
    }
    output.progress(items.fraction());
  }
}

std::vector<std::string> WrapManager::kept(std::vector<std::string> values) const {
  return after_results_ ? without_own(std::move(values)) : std::move(values);
}

std::string WrapManager::header() const {
  std::string line = row_column;
  for (const std::string& column : kept(items_->columns())) append_value(line += ',', column);
  for (const auto& [name, expression] : numbers_) append_value(line += ',', name);
  return line + ',' + status_column + ',' + seconds_column + ',' + host_column + '\n';
}

std::string WrapManager::line_of(std::int64_t item, const Outcome& outcome, const kit::Origin* origin) const {
  std::string line = std::to_string(item + 1);
  for (const std::string& value : kept(items_->row(item))) append_value(line += ',', value);
  for (const auto& [name, expression] : numbers_)
    append_value(line += ',', find_number(outcome.files, expression));
  append_value(line += ',', outcome.status.empty() ? "ok" : outcome.status);
  const bool known = origin != nullptr;
  append_value(line += ',', known && origin->seconds != "-" ? origin->seconds : "");
  append_value(line += ',', known ? origin->host : "");
  return line + '\n';
}

Status WrapManager::write_rows(kit::ItemSource& items, kit::Output& output, Files files) const {
  const auto table = output.directory() / table_name;
  std::ofstream lines(table, std::ios::binary | std::ios::trunc);
  lines << header();
  std::optional<TarWriter> archive;
  std::vector<std::int64_t> begins;  // of the rows in it
  if (files == Files::kept) {
    TRY_ASSIGN(archive, TarWriter::create(output.directory() / "rows.tar"));
  }
  for (;;) {
    TRY_ASSIGN(const auto item, items.next());
    if (!item) break;
    TRY_ASSIGN(const Outcome kept, outcome(item->index, item->bytes));
    lines << line_of(item->index, kept, items.origin(item->index));
    if (archive) {
      begins.push_back(archive->bytes());
      const std::string directory = six_digits(item->index + 1) + "/";
      for (std::size_t i = 0; i < kept.files.size(); ++i)
        TRY(archive->add(directory + "out" + command_.endings[i], kept.files[i]));
      if (!kept.status.empty()) TRY(archive->add(directory + "error.txt", kept.words));
    }
    output.progress(items.fraction());
  }
  lines.close();
  if (!lines) return Error{ErrorKind::io, "cannot write " + table.string() + " (is the disk full?)"};
  output.result(table_name, "text/csv");
  if (!archive) return {};
  TRY(archive->finish(row_index(begins, archive->bytes())));
  output.result("rows.tar", "application/x-tar");
  return {};
}

Status WrapManager::combine(int stage, kit::ItemSource& items, kit::Output& output) {
  if (stage != 0) return Error{ErrorKind::invalid, "a wrapped program has one stage: 0"};
  TRY(items.require_all(items_->count()));
  return items_->are_rows() ? write_rows(items, output, Files::kept) : write_files(items, output);
}

Status WrapManager::preview(int stage, kit::ItemSource& items, kit::Output& output) {
  if (stage != 0) return Error{ErrorKind::invalid, "a wrapped program has one stage: 0"};
  TRY(items.require_within(items_->count()));
  return items_->are_rows() ? write_rows(items, output, Files::left_out) : write_files(items, output);
}

Result<RangeSet> WrapManager::failed(int stage, kit::ItemSource& items) {
  if (stage != 0) return Error{ErrorKind::invalid, "a wrapped program has one stage: 0"};
  TRY(items.require_within(items_->count()));
  RangeSet failed;
  for (;;) {
    TRY_ASSIGN(const auto item, items.next());
    if (!item) return failed;
    TRY_ASSIGN(const Outcome kept, outcome(item->index, item->bytes));
    if (!kept.status.empty()) failed.add({item->index, item->index + 1});
  }
}

}  // namespace gleaner::wrap
