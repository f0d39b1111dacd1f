#include "tools/admin/row_files.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>

#include "shared/archive/archive.h"
#include "shared/base/clean_text.h"
#include "shared/base/limits.h"
#include "shared/base/row_index.h"

namespace gleaner::admin {
namespace {

constexpr std::int64_t rows_at_once = transfer_piece_bytes / row_index_entry_bytes - 1;
constexpr std::int64_t headers_bytes_max = 1 << 20;  // of a row: a program has some dozen files

std::optional<std::int64_t> row_number(std::string_view text) {
  std::int64_t number = 0;
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool whole = fault == std::errc{} && end == text.data() + text.size();
  return whole && number >= 1 && number <= limits::items_max ? std::optional(number) : std::nullopt;
}

Status add_rows(std::string_view word, RangeSet& rows) {
  const std::size_t dash = std::min(word.find('-'), word.size());
  const auto first = row_number(word.substr(0, dash));
  const auto last = dash == word.size() ? first : row_number(word.substr(dash + 1));
  if (!first || !last || *last < *first)
    return Error{ErrorKind::invalid,
                 "\"" + clean_line(std::string(word)) +
                     "\" names no rows: expected for example 17, or 3-5 (rows count from 1)"};
  rows.add({*first, *last + 1});
  return {};
}

std::string directory_of(std::int64_t row) {
  const std::string number = std::to_string(row);
  return std::string(number.size() < 6 ? 6 - number.size() : 0, '0') + number;
}

Error not_of_row(std::int64_t row) {
  return {ErrorKind::untrusted, "rows.tar has something else where row " + std::to_string(row) +
                                    " should be: its application must not do that"};
}

Status write_file(io::Files& files, const io::Path& path, std::string_view content, Overwrite overwrite) {
  if (files.exists(path)) {
    const auto there = files.read(path, limits::item_bytes_max);
    if (there.ok() && *there == content) return {};
    if (overwrite == Overwrite::no) return is_there_already(path);
  }
  return files.write(path, content, io::Mode::normal);
}

class RowDownload {
 public:
  RowDownload(Api& api, io::Files& files, const protocol::ResultFile& archive, const io::Path& directory,
              Overwrite overwrite)
      : api_(api), files_(files), archive_(archive), directory_(directory), overwrite_(overwrite) {}

  Status open() {
    Bytes tail;
    if (archive_.bytes >= row_index_end_bytes) {
      TRY_ASSIGN(tail, read(archive_.bytes - row_index_end_bytes, archive_.bytes));
    }
    TRY_ASSIGN(place_, find_row_index(tail, archive_.bytes));
    return {};
  }
  [[nodiscard]] std::int64_t rows() const { return place_.rows; }

  // REQUIRES: open(); rows that there are.
  Status fetch(Range rows) {
    for (std::int64_t begin = rows.begin; begin < rows.end; begin += rows_at_once) {
      const Range now{begin, std::min(rows.end, begin + rows_at_once)};
      const std::int64_t at = place_.offset + (now.begin - 1) * row_index_entry_bytes;
      TRY_ASSIGN(const Bytes entries, read(at, at + (now.size() + 1) * row_index_entry_bytes));
      TRY_ASSIGN(const auto offsets, read_row_index(entries, place_));
      TRY(fetch_at(now, offsets));
    }
    return {};
  }

  std::vector<RowFile> written;

 private:
  Result<Bytes> read(std::int64_t begin, std::int64_t end) const {
    Bytes bytes;
    while (begin < end) {
      const std::int64_t piece = std::min(transfer_piece_bytes, end - begin);
      TRY_ASSIGN(const Bytes more, api_.blob_range(archive_.digest, begin, piece));
      bytes += more;
      begin += piece;
    }
    return bytes;
  }

  // Small rows come together in one request. `offsets`: of each row, and the last one's end.
  Status fetch_at(Range rows, const std::vector<std::int64_t>& offsets) {
    const auto count = static_cast<std::size_t>(rows.size());
    for (std::size_t first = 0; first < count;) {
      std::size_t after = first + 1;
      while (after < count && offsets[after + 1] - offsets[first] <= transfer_piece_bytes) ++after;
      if (offsets[after] - offsets[first] > limits::item_bytes_max + headers_bytes_max)
        return not_of_row(rows.begin + static_cast<std::int64_t>(first));
      TRY_ASSIGN(const Bytes part, read(offsets[first], offsets[after]));
      for (std::size_t i = first; i < after; ++i) {
        const auto begin = static_cast<std::size_t>(offsets[i] - offsets[first]);
        const auto bytes = static_cast<std::size_t>(offsets[i + 1] - offsets[i]);
        TRY(write_row(rows.begin + static_cast<std::int64_t>(i),
                      std::string_view(part).substr(begin, bytes)));
      }
      first = after;
    }
    return {};
  }

  Status write_row(std::int64_t row, std::string_view part) {
    const io::Path directory = directory_ / directory_of(row);
    TRY(files_.make_directories(directory));
    const auto members = archives::read_tar(part);
    if (!members.ok()) return not_of_row(row);
    for (const archives::TarMember& member : *members) {
      const std::string start = directory_of(row) + "/";
      if (!member.path.starts_with(start)) return not_of_row(row);
      const std::string name = member.path.substr(start.size());
      TRY(check_result_name(name));
      TRY(write_file(files_, directory / name, member.content, overwrite_));
      written.push_back({row, name, directory / name});
    }
    return {};
  }

  Api& api_;
  io::Files& files_;
  const protocol::ResultFile& archive_;
  const io::Path& directory_;
  const Overwrite overwrite_;
  RowIndexPlace place_;
};

}  // namespace

Result<RangeSet> parse_rows(const std::vector<std::string>& texts) {
  RangeSet rows;
  for (const std::string& text : texts)
    for (std::size_t begin = 0; begin <= text.size();) {
      const std::size_t end = std::min(text.find(',', begin), text.size());
      TRY(add_rows(std::string_view(text).substr(begin, end - begin), rows));
      begin = end + 1;
    }
  return rows;
}

Result<std::vector<RowFile>> download_rows(Api& api, io::Files& files,
                                           const std::vector<protocol::ResultFile>& results,
                                           const RangeSet& rows, const io::Path& directory,
                                           Overwrite overwrite) {
  const auto archive = std::ranges::find(results, "rows.tar", &protocol::ResultFile::name);
  if (archive == results.end())
    return Error{ErrorKind::not_found,
                 "the problem has no rows.tar: its application does not compute the rows of a table"};
  RowDownload download(api, files, *archive, directory, overwrite);
  TRY(download.open());
  for (const Range range : rows.ranges())
    if (range.end > download.rows() + 1)
      return Error{ErrorKind::not_found, "there is no row " +
                                             std::to_string(std::max(range.begin, download.rows() + 1)) +
                                             ": the table has " + std::to_string(download.rows()) + " rows"};
  for (const Range range : rows.ranges()) TRY(download.fetch(range));
  return std::move(download.written);
}

}  // namespace gleaner::admin
