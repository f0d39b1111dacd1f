// What the items of a problem are: its input files in order of their names, or the rows of its table.
// Immutable once read. Errors: invalid, not_found, io.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "apps/kit/problem.h"
#include "apps/wrap/command.h"
#include "shared/base/csv_table.h"

namespace gleaner::wrap {

// In the working directory: the problem's inputs, and the bundle.
inline constexpr const char* inputs_link = "inputs";
inline constexpr const char* bundle_link = "bundle";
inline constexpr const char* table_name = "table.csv";  // the input with the rows; table.csv.1 … continue it

class Items {
 public:
  [[nodiscard]] static Result<Items> read(const Command& command, const kit::Problem& problem);
  // Every word of the command means something for every item, and every file that rows name is there.
  [[nodiscard]] Status check(const Command& command) const;

  [[nodiscard]] std::int64_t count() const {
    return are_rows() ? rows_ : static_cast<std::int64_t>(names_.size());
  }
  [[nodiscard]] bool are_rows() const { return !tables_.empty(); }
  // REQUIRES: are_rows().
  [[nodiscard]] const std::vector<std::string>& columns() const { return tables_.front().table.columns(); }
  [[nodiscard]] std::vector<std::string> row(std::int64_t item) const;
  // For people: "page.txt", "row 17".
  [[nodiscard]] std::string name(std::int64_t item) const;
  // That and all that its row says.
  [[nodiscard]] std::string identity(std::int64_t item) const;
  // The item's file. REQUIRES: items are files.
  [[nodiscard]] std::filesystem::path file(std::int64_t item) const;
  // What the command's words are for it, without the program. Paths lead through the links.
  [[nodiscard]] Result<std::vector<std::string>> arguments(const Command& command, std::int64_t item) const;

 private:
  explicit Items(std::filesystem::path inputs) : inputs_(std::move(inputs)) {}
  [[nodiscard]] Result<std::string> value(const std::string& word, std::int64_t item,
                                          const std::vector<std::string>& row) const;
  [[nodiscard]] bool has_input(const std::string& name) const;
  // Its rows come after those that are known.
  [[nodiscard]] Status add_table(const kit::Problem& problem, const std::string& name);

  struct Part {
    std::int64_t first = 0;  // the item of its first row
    CsvTable table;
  };
  std::filesystem::path inputs_;
  std::vector<std::string> names_;  // of the inputs, sorted
  std::vector<Part> tables_;        // of the same columns; none: items are files
  std::int64_t rows_ = 0;
};

}  // namespace gleaner::wrap
