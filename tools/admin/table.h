// Tables for people: a header, rows, columns as wide as their widest cell, the last one cut to the display.
// Pure text; colours are escape sequences and only where the display has them.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "shared/base/clean_text.h"
#include "tools/admin/outside.h"

namespace gleaner::admin {

enum class Align { left, right };
enum class Tint { none, good, warning, bad, dim, bold };

[[nodiscard]] std::string tinted(const std::string& text, Tint tint, const Display& display);

struct Cell {
  std::string text;  // one clean line, whatever it was made of
  Tint tint = Tint::none;
  // Implicit, so that rows may be written as plain texts.
  Cell(const std::string& words, Tint colour = Tint::none)  // NOLINT(google-explicit-constructor)
      : text(std::string(indent_of(words), ' ') + clean_line(words)), tint(colour) {}
  Cell(const char* words, Tint colour = Tint::none)  // NOLINT(google-explicit-constructor)
      : Cell(std::string(words), colour) {}

 private:
  // Blanks in front show a tree's levels.
  static std::size_t indent_of(const std::string& words) {
    const std::size_t first = words.find_first_not_of(' ');
    return first == std::string::npos ? 0 : first;
  }
};

class Table {
 public:
  struct Column {
    std::string title;
    Align align = Align::left;
  };
  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}
  // REQUIRES: as many cells as columns.
  void add(std::vector<Cell> row);
  [[nodiscard]] bool empty() const { return rows_.empty(); }
  // Lines, each ended.
  [[nodiscard]] std::string render(const Display& display) const;

 private:
  std::vector<Column> columns_;
  std::vector<std::vector<Cell>> rows_;
};

// "name    value" lines with the values aligned; fields with an empty value are left out.
[[nodiscard]] std::string render_fields(const std::vector<std::pair<std::string, Cell>>& fields,
                                        const Display& display);

}  // namespace gleaner::admin
