// The manager of a wrapped program. Of items that are files each result is a file: the input's name and an
// ending. Of items that are rows there are two results: table.csv, which has the rows with the numbers that
// were found in their output, how the program ended, in how many seconds and on which host (of a table that
// is such a result itself, these columns are replaced); and rows.tar, with a directory of files a row and,
// behind its end marks, an index (shared/base/row_index.h).
#pragma once

#include <optional>
#include <regex>
#include <string>
#include <utility>
#include <vector>

#include "apps/kit/manager.h"
#include "apps/wrap/command.h"
#include "apps/wrap/comparison.h"
#include "apps/wrap/item.h"
#include "apps/wrap/items.h"

namespace gleaner::wrap {

class WrapManager final : public kit::Manager {
 public:
  // `patience`: with the author's program, for all files of an item.
  explicit WrapManager(Command command, Comparison::Clock::duration patience = std::chrono::seconds{30})
      : command_(std::move(command)), patience_(patience) {}
  [[nodiscard]] std::vector<std::string> offers() const override {
    return {"origins", "failures", "appends"};
  }
  [[nodiscard]] Status check(const kit::Problem& problem) override;
  [[nodiscard]] Result<std::optional<kit::Stage>> plan(int stage) override;
  [[nodiscard]] Result<kit::Validation> validate(int stage, kit::SegmentReader& segment) override;
  // By the author's program, where there is one. One that hangs again and again is not asked any more, since
  // the server waits for each answer.
  [[nodiscard]] Result<std::string> compare(int stage, std::int64_t item, std::string_view a,
                                            std::string_view b) override;
  [[nodiscard]] Status combine(int stage, kit::ItemSource& items, kit::Output& output) override;
  // Those in hand; of rows the table alone.
  [[nodiscard]] Status preview(int stage, kit::ItemSource& items, kit::Output& output) override;
  // Rows whose program did not end well.
  [[nodiscard]] Result<RangeSet> failed(int stage, kit::ItemSource& items) override;

 private:
  enum class Files { kept, left_out };
  [[nodiscard]] Result<Outcome> outcome(std::int64_t item, std::string_view bytes) const;
  [[nodiscard]] Status write_files(kit::ItemSource& items, kit::Output& output) const;
  [[nodiscard]] Status write_rows(kit::ItemSource& items, kit::Output& output, Files files) const;
  // Of a row, or of the columns: what stands in the results.
  [[nodiscard]] std::vector<std::string> kept(std::vector<std::string> values) const;
  [[nodiscard]] std::string header() const;
  [[nodiscard]] std::string line_of(std::int64_t item, const Outcome& outcome,
                                    const kit::Origin* origin) const;

  Command command_;
  Comparison::Clock::duration patience_;
  int hung_ = 0;  // so often that program took too long
  std::optional<Items> items_;
  bool after_results_ = false;  // the rows are the results of another problem
  std::vector<std::pair<std::string, std::regex>> numbers_;
};

}  // namespace gleaner::wrap
