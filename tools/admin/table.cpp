#include "tools/admin/table.h"

#include <algorithm>

#include "shared/base/check.h"
#include "tools/admin/figures.h"

namespace gleaner::admin {
namespace {

const char* sequence_of(Tint tint) {
  switch (tint) {
    case Tint::none:
      return "";
    case Tint::good:
      return "\x1b[32m";
    case Tint::warning:
      return "\x1b[33m";
    case Tint::bad:
      return "\x1b[31m";
    case Tint::dim:
      return "\x1b[2m";
    case Tint::bold:
      return "\x1b[1m";
  }
  return "";
}

std::string blanks(int count) {
  return std::string(static_cast<std::size_t>(std::max(count, 0)), ' ');
}

}  // namespace

std::string tinted(const std::string& text, Tint tint, const Display& display) {
  if (!display.colour || tint == Tint::none || text.empty()) return text;
  return sequence_of(tint) + text + "\x1b[0m";
}

void Table::add(std::vector<Cell> row) {
  CHECK_TRUE(row.size() == columns_.size());
  rows_.push_back(std::move(row));
}

std::string Table::render(const Display& display) const {
  std::vector<int> widths;
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    int width = columns_of(columns_[c].title);
    for (const auto& row : rows_) width = std::max(width, columns_of(row[c].text));
    widths.push_back(width);
  }
  std::string text;
  const auto line = [&](const auto& cell_at) {
    int used = 0;
    for (std::size_t c = 0; c < columns_.size(); ++c) {
      const bool last = c + 1 == columns_.size();
      const Cell cell = cell_at(c);
      // Only a terminal's line has an end worth cutting for.
      const std::string shown =
          last && display.terminal ? fit(cell.text, std::max(display.columns - used, 8)) : cell.text;
      const std::string gap = blanks(widths[c] - columns_of(shown));
      if (columns_[c].align == Align::right) text += gap;
      text += tinted(shown, cell.tint, display);
      if (columns_[c].align == Align::left && !last) text += gap;
      if (!last) text += "  ";
      used += widths[c] + 2;
    }
    while (text.ends_with(' ')) text.pop_back();  // an empty last cell
    text += '\n';
  };
  line([&](std::size_t c) { return Cell(columns_[c].title, Tint::bold); });
  for (const auto& row : rows_) line([&](std::size_t c) { return row[c]; });
  return text;
}

std::string render_fields(const std::vector<std::pair<std::string, Cell>>& fields, const Display& display) {
  int width = 0;
  for (const auto& [name, cell] : fields)
    if (!cell.text.empty()) width = std::max(width, columns_of(name));
  std::string text;
  for (const auto& [name, cell] : fields) {
    if (cell.text.empty()) continue;
    text += tinted(name, Tint::dim, display) + blanks(width - columns_of(name)) + "  " +
            tinted(cell.text, cell.tint, display) + "\n";
  }
  return text;
}

}  // namespace gleaner::admin
