#include "shared/base/csv_table.h"

#include <algorithm>
#include <set>
#include <utility>

#include "shared/base/figures.h"

namespace gleaner {
namespace {

// Reads the text value by value.
class Scanner {
 public:
  Scanner(std::string_view text, std::size_t at, char separator)
      : text_(text), at_(at), separator_(separator) {}

  [[nodiscard]] std::size_t at() const { return at_; }
  [[nodiscard]] std::int64_t line() const { return line_; }
  [[nodiscard]] bool done() const { return at_ >= text_.size(); }

  // Of lines without a character.
  void skip_empty_lines() {
    while (!done() && (text_[at_] == '\n' || text_.substr(at_, 2) == "\r\n")) {
      at_ += text_[at_] == '\n' ? 1 : 2;
      ++line_;
    }
  }

  // Calls `take` for each value of a row, with a view that lasts for the call.
  template <typename Take>
  Status read_row(const Take& take) {
    for (;;) {
      TRY_ASSIGN(const std::string_view value, read_value());
      take(value);
      if (done()) return {};
      const char c = text_[at_++];
      if (c == separator_) continue;
      ++line_;
      return {};
    }
  }

 private:
  // Up to the separator or the line's end; of "\r\n" the first is taken, too.
  Result<std::string_view> read_value() {
    if (!done() && text_[at_] == '"') return read_quoted();
    const std::size_t begin = at_;
    while (!done() && text_[at_] != separator_ && text_[at_] != '\n') {
      if (text_[at_] == '\0') return Error{ErrorKind::invalid, here() + "a zero byte: this is no text"};
      ++at_;
    }
    const bool returned = at_ > begin && text_[at_ - 1] == '\r' && (done() || text_[at_] == '\n');
    return text_.substr(begin, at_ - begin - (returned ? 1 : 0));
  }

  Result<std::string_view> read_quoted() {
    const std::string opened = here();
    unquoted_.clear();
    for (++at_; !done(); ++at_) {
      if (text_[at_] == '\n') ++line_;
      if (text_[at_] != '"') {
        unquoted_ += text_[at_];
      } else if (at_ + 1 < text_.size() && text_[at_ + 1] == '"') {
        unquoted_ += '"';
        ++at_;
      } else {
        ++at_;
        if (!done() && text_[at_] == '\r') ++at_;
        if (done() || text_[at_] == separator_ || text_[at_] == '\n') return std::string_view(unquoted_);
        return Error{ErrorKind::invalid, here() + "text after a closing quote"};
      }
    }
    return Error{ErrorKind::invalid, opened + "a quote that is not closed"};
  }

  [[nodiscard]] std::string here() const { return "line " + std::to_string(line_) + ": "; }

  std::string_view text_;
  std::size_t at_;
  std::int64_t line_ = 1;
  char separator_;
  std::string unquoted_;
};

char separator_of(std::string_view text) {
  bool quoted = false;
  for (const char c : text) {
    if (c == '"') quoted = !quoted;
    if (quoted) continue;
    if (c == ',' || c == '\t' || c == ';') return c;
    if (c == '\n') break;
  }
  return ',';
}

Status check_columns(const std::vector<std::string>& columns) {
  if (std::cmp_greater(columns.size(), limits::table_columns_max))
    return Error{ErrorKind::invalid,
                 "line 1: more than " + std::to_string(limits::table_columns_max) + " columns"};
  std::set<std::string> names;
  for (const std::string& column : columns) {
    if (column.empty() || column.find_first_of("{}") != std::string::npos)
      return Error{ErrorKind::invalid, "line 1: \"" + column + "\" is no name for a column"};
    if (!names.insert(column).second)
      return Error{ErrorKind::invalid, "line 1: two columns are called " + column};
  }
  return {};
}

}  // namespace

Result<CsvTable> CsvTable::parse(Bytes text) {
  if (std::cmp_greater(text.size(), csv_bytes_max))
    return Error{ErrorKind::too_large, "larger than " + std::to_string(csv_bytes_max >> 20) + " MiB"};
  CsvTable table;
  table.text_ = std::move(text);
  std::string_view all = table.text_;
  const std::size_t begin = all.starts_with("\xef\xbb\xbf") ? 3 : 0;  // what some spreadsheets begin with
  table.separator_ = separator_of(all.substr(begin));
  Scanner scanner(all, begin, table.separator_);
  scanner.skip_empty_lines();
  if (scanner.done()) return Error{ErrorKind::invalid, "it is empty: the first line names the columns"};
  TRY(scanner.read_row([&](std::string_view value) { table.columns_.emplace_back(value); }));
  TRY(check_columns(table.columns_));
  for (;;) {
    scanner.skip_empty_lines();
    if (scanner.done()) break;
    table.begins_.push_back(static_cast<std::uint32_t>(scanner.at()));
    std::size_t values = 0;
    const std::int64_t line = scanner.line();
    TRY(scanner.read_row([&](std::string_view) { ++values; }));
    if (values != table.columns_.size())
      return Error{ErrorKind::invalid, "line " + std::to_string(line) + ": " +
                                           counted(std::int64_t(values), "value") + ", and " +
                                           std::to_string(table.columns_.size()) + " columns"};
  }
  if (table.begins_.empty()) return Error{ErrorKind::invalid, "there is no row below the columns' names"};
  return table;
}

std::vector<std::string> CsvTable::row(std::int64_t row) const {
  std::vector<std::string> values;
  values.reserve(columns_.size());
  Scanner scanner(text_, begins_[static_cast<std::size_t>(row)], separator_);
  const Status read = scanner.read_row([&](std::string_view value) { values.emplace_back(value); });
  CHECK_TRUE(read.ok());  // parse() has read it
  return values;
}

std::string CsvTable::value(std::int64_t row, std::size_t column) const {
  std::string found;
  std::size_t at = 0;
  Scanner scanner(text_, begins_[static_cast<std::size_t>(row)], separator_);
  const Status read = scanner.read_row([&](std::string_view value) {
    if (at++ == column) found = value;
  });
  CHECK_TRUE(read.ok());  // parse() has read it
  return found;
}

void append_value(std::string& line, std::string_view value, char separator) {
  const char special[] = {separator, '"', '\n', '\r'};
  if (value.find_first_of(std::string_view(special, sizeof special)) == std::string_view::npos) {
    line += value;
    return;
  }
  line += '"';
  for (const char c : value) {
    if (c == '"') line += '"';
    line += c;
  }
  line += '"';
}

}  // namespace gleaner
