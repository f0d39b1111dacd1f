#include "apps/wrap/items.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "shared/base/limits.h"

namespace gleaner::wrap {
namespace {

std::vector<std::string> names_in(const std::filesystem::path& directory) {
  std::vector<std::string> names;
  std::error_code failure;
  for (std::filesystem::directory_iterator entry(directory, failure), end;
       !failure && entry != end && std::cmp_less(names.size(), limits::inputs_max); entry.increment(failure))
    names.push_back(entry->path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

std::string linked(const std::string& input) {
  return std::string(inputs_link) + "/" + input;
}

std::string continued_table(int number) {
  return std::string(table_name) + "." + std::to_string(number);
}

std::string listed(const std::vector<std::string>& columns) {
  std::string text;
  for (const std::string& column : columns) text += (text.empty() ? "" : ", ") + column;
  return text;
}

}  // namespace

Result<Items> Items::read(const Command& command, const kit::Problem& problem) {
  Items items(std::filesystem::absolute(problem.directory() / "inputs"));
  items.names_ = names_in(items.inputs_);
  if (!command.rows) {
    if (items.names_.empty())
      return Error{ErrorKind::invalid, "there is no input: give files with --input NAME=FILE, one an item"};
    return items;
  }
  if (!items.has_input(table_name))
    return Error{ErrorKind::invalid, "there is no table: give one with --table FILE, a row an item"};
  TRY(items.add_table(problem, table_name));
  for (int number = 1; items.has_input(continued_table(number)); ++number)
    TRY(items.add_table(problem, continued_table(number)));
  return items;
}

Status Items::add_table(const kit::Problem& problem, const std::string& name) {
  TRY_ASSIGN(Bytes text, problem.read_input(name, csv_bytes_max));
  auto table = CsvTable::parse(std::move(text));
  if (!table.ok()) return table.error().within(name);
  if (are_rows() && table->columns() != columns())
    return Error{ErrorKind::invalid, name + ": its columns are " + listed(table->columns()) +
                                         ", and those of the rows before are " + listed(columns())};
  const std::int64_t rows = table->rows();
  tables_.push_back({rows_, std::move(*table)});
  rows_ += rows;
  return {};
}

std::vector<std::string> Items::row(std::int64_t item) const {
  const auto after = std::upper_bound(tables_.begin(), tables_.end(), item,
                                      [](std::int64_t row, const Part& part) { return row < part.first; });
  const Part& part = *std::prev(after);
  return part.table.row(item - part.first);
}

bool Items::has_input(const std::string& name) const {
  return std::binary_search(names_.begin(), names_.end(), name);
}

Status Items::check(const Command& command) const {
  const bool each =
      std::any_of(command.arguments.begin(), command.arguments.end(),
                  [](const std::string& argument) { return argument.find("{file:") != std::string::npos; });
  for (std::int64_t item = 0; item < (each ? count() : 1); ++item) TRY(arguments(command, item));
  return {};
}

std::string Items::name(std::int64_t item) const {
  return are_rows() ? "row " + std::to_string(item + 1) : names_[static_cast<std::size_t>(item)];
}

std::string Items::identity(std::int64_t item) const {
  std::string text = name(item);
  if (are_rows())
    for (const std::string& value : row(item)) append_value(text += ',', value);
  return text;
}

std::filesystem::path Items::file(std::int64_t item) const {
  return inputs_ / names_[static_cast<std::size_t>(item)];
}

Result<std::string> Items::value(const std::string& word, std::int64_t item,
                                 const std::vector<std::string>& row) const {
  if (word == "bundle") return std::string(bundle_link);
  if (!are_rows()) {
    if (word == "in") return linked(name(item));
    return Error{ErrorKind::invalid, "{" + word + "} stands for nothing, as items are files: {{" + word +
                                         "}} is the text in braces"};
  }
  if (word == "row") return std::to_string(item + 1);
  const bool is_file = word.starts_with("file:");
  const std::string column = is_file ? word.substr(5) : word;
  const auto found = std::find(columns().begin(), columns().end(), column);
  if (found == columns().end())
    return Error{
        ErrorKind::invalid,
        "{" + word + "} is in the command, and the table has no such column, only " + listed(columns())};
  const std::string& value = row[static_cast<std::size_t>(found - columns().begin())];
  if (!is_file) return value;
  if (!has_input(value))
    return Error{ErrorKind::not_found, "row " + std::to_string(item + 1) + " names the file \"" + value +
                                           "\", which is none of the inputs: give it with --input"};
  return linked(value);
}

Result<std::vector<std::string>> Items::arguments(const Command& command, std::int64_t item) const {
  const auto values = are_rows() ? row(item) : std::vector<std::string>{};
  std::vector<std::string> words;
  for (const std::string& argument : command.arguments) {
    TRY_ASSIGN(std::string word,
               expand(command, argument, [&](const std::string& name) { return value(name, item, values); }));
    words.push_back(std::move(word));
  }
  return words;
}

}  // namespace gleaner::wrap
