#include "apps/wrap/items.h"

#include <algorithm>
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
  TRY_ASSIGN(Bytes text, problem.read_input(table_name, csv_bytes_max));
  auto table = CsvTable::parse(std::move(text));
  if (!table.ok()) return table.error().within(table_name);
  items.table_ = std::move(*table);
  return items;
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
  return table_ ? "row " + std::to_string(item + 1) : names_[static_cast<std::size_t>(item)];
}

std::string Items::identity(std::int64_t item) const {
  std::string text = name(item);
  if (table_)
    for (const std::string& value : table_->row(item)) append_value(text += ',', value);
  return text;
}

std::filesystem::path Items::file(std::int64_t item) const {
  return inputs_ / names_[static_cast<std::size_t>(item)];
}

Result<std::string> Items::value(const std::string& word, std::int64_t item,
                                 const std::vector<std::string>& row) const {
  if (word == "bundle") return std::string(bundle_link);
  if (!table_) {
    if (word == "in") return linked(name(item));
    return Error{ErrorKind::invalid, "{" + word + "} stands for nothing, as items are files: {{" + word +
                                         "}} is the text in braces"};
  }
  if (word == "row") return std::to_string(item + 1);
  const bool is_file = word.starts_with("file:");
  const std::string column = is_file ? word.substr(5) : word;
  const auto& columns = table_->columns();
  const auto found = std::find(columns.begin(), columns.end(), column);
  if (found == columns.end())
    return Error{
        ErrorKind::invalid,
        "{" + word + "} is in the command, and the table has no such column, only " + listed(columns)};
  const std::string& value = row[static_cast<std::size_t>(found - columns.begin())];
  if (!is_file) return value;
  if (!has_input(value))
    return Error{ErrorKind::not_found, "row " + std::to_string(item + 1) + " names the file \"" + value +
                                           "\", which is none of the inputs: give it with --input"};
  return linked(value);
}

Result<std::vector<std::string>> Items::arguments(const Command& command, std::int64_t item) const {
  const auto row = table_ ? table_->row(item) : std::vector<std::string>{};
  std::vector<std::string> words;
  for (const std::string& argument : command.arguments) {
    TRY_ASSIGN(std::string word,
               expand(command, argument, [&](const std::string& name) { return value(name, item, row); }));
    words.push_back(std::move(word));
  }
  return words;
}

}  // namespace gleaner::wrap
