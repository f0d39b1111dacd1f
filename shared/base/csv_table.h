// A table of text (RFC 4180): a line of columns' names, then rows. Values stand between commas (or tabs or
// semicolons, whatever separates the first line's names), in quotes if they hold such, quotes or line ends; a
// quote in quotes is doubled. Empty lines are no rows. Immutable, thread-safe. Errors: invalid, with the
// line: "line 17: 3 values, and 4 columns".
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "shared/base/encoding.h"
#include "shared/base/limits.h"
#include "shared/base/result.h"

namespace gleaner {

inline constexpr std::int64_t csv_bytes_max = 256 << 20;

class CsvTable {
 public:
  [[nodiscard]] static Result<CsvTable> parse(Bytes text);

  [[nodiscard]] const std::vector<std::string>& columns() const { return columns_; }
  [[nodiscard]] std::int64_t rows() const { return static_cast<std::int64_t>(begins_.size()); }
  // REQUIRES: 0 <= row < rows().
  [[nodiscard]] std::vector<std::string> row(std::int64_t row) const;
  // The same of one column. REQUIRES: 0 <= column < columns().size().
  [[nodiscard]] std::string value(std::int64_t row, std::size_t column) const;

 private:
  Bytes text_;
  char separator_ = ',';
  std::vector<std::string> columns_;
  std::vector<std::uint32_t> begins_;  // of the rows in text_
};

// A value as it stands in a line of a table.
void append_value(std::string& line, std::string_view value, char separator = ',');

}  // namespace gleaner
