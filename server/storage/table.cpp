#include "server/storage/table.h"

namespace gleaner::storage {

std::string listed(const std::vector<Column>& columns, const std::string& before) {
  std::string text;
  for (const Column& column : columns) text += (text.empty() ? "" : ", ") + before + column.name;
  return text;
}

std::string select_text(const Table& table) {
  return "SELECT " + listed(table.columns) + " FROM " + table.name;
}

std::string find_text(const Table& table) {
  std::string text = select_text(table);
  for (std::size_t key = 0; key < table.keys; ++key)
    text += (key == 0 ? " WHERE " : " AND ") + table.columns[key].name + " = ?";
  return text;
}

std::string insert_text(const Table& table) {
  std::string places;
  for (std::size_t i = 0; i < table.columns.size(); ++i) places += i == 0 ? "?" : ", ?";
  return "INSERT INTO " + table.name + " (" + listed(table.columns) + ") VALUES (" + places + ")";
}

std::string conflict_text(const Table& table) {
  if (table.put != Table::Put::replace) return "";
  const auto first = table.columns.begin() + static_cast<std::ptrdiff_t>(table.keys);
  std::string text = " ON CONFLICT (" + listed({table.columns.begin(), first}) + ") DO UPDATE SET ";
  for (auto column = first; column != table.columns.end(); ++column)
    text += (column == first ? "" : ", ") + column->name + " = excluded." + column->name;
  return text;
}

}  // namespace gleaner::storage
