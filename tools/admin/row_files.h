// Files of single rows of a table's problem, fetched by ranges of its rows.tar (shared/base/row_index.h):
// three short requests a row, however many rows there are. One thread. Errors: invalid, not_found, untrusted,
// and those of the API and of files.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "shared/base/range_set.h"
#include "tools/admin/transfer.h"

namespace gleaner::admin {

// "7", "3-5", "1,3-5": numbers of rows, from 1 on.
[[nodiscard]] Result<RangeSet> parse_rows(const std::vector<std::string>& texts);

struct RowFile {
  std::int64_t row = 0;
  std::string name;  // "out.txt"; of a row that failed "error.txt"
  io::Path path;
};
// Writes DIRECTORY/000017/NAME for each file of row 17, as rows.tar has it. Files that are there with other
// content are a conflict unless they may be overwritten. `results`: those of a finished problem.
[[nodiscard]] Result<std::vector<RowFile>> download_rows(Api& api, io::Files& files,
                                                         const std::vector<protocol::ResultFile>& results,
                                                         const RangeSet& rows, const io::Path& directory,
                                                         Overwrite overwrite);

}  // namespace gleaner::admin
