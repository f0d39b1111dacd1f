// Index of rows.tar, the files of all rows of a table's problem, so that a reader fetches one row's files by
// two short ranges. It follows the archive's end marks, where readers of tar archives stop. Numbers are
// uint64, little-endian:
//
//   begin of row 1, ... begin of row N, end of row N     offsets of headers in the archive
//   "glnrows1", N
//
// Pure, thread-safe. Errors: not_found (an archive without an index), untrusted.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "shared/base/encoding.h"
#include "shared/base/result.h"

namespace gleaner {

inline constexpr std::int64_t row_index_end_bytes = 16;
inline constexpr std::int64_t row_index_entry_bytes = 8;

// `begins` has the begin of each row; `end` is that of the last one.
[[nodiscard]] Bytes row_index(const std::vector<std::int64_t>& begins, std::int64_t end);

// Place of an index in an archive.
struct RowIndexPlace {
  std::int64_t rows = 0;
  std::int64_t offset = 0;
};
// `tail`: the archive's last row_index_end_bytes of `archive_bytes`.
[[nodiscard]] Result<RowIndexPlace> find_row_index(std::string_view tail, std::int64_t archive_bytes);

// Of consecutive entries: the places of one row less. Each begins where the one before ends, within `place`.
[[nodiscard]] Result<std::vector<std::int64_t>> read_row_index(std::string_view entries,
                                                               const RowIndexPlace& place);

}  // namespace gleaner
