// What has to be done to a table so that it holds what another holds: found by reading both, in the order of
// their places, each on a thread of its own. Private to this module.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "server/storage/all_tables.h"

namespace gleaner::storage {

struct PlaceRange {
  Place first, last;
  TableSum sum;  // of the rows that are to be there
};

struct TableChanges {
  TableSum sum;                     // of the table that is to be copied
  std::int64_t same = 0;            // rows that are there as they are to be
  std::vector<PlaceRange> removed;  // of these places everything is to go, then
  std::vector<PlaceRange> put;      // everything of these is to be put: what has changed, and some in between
};

// Memory: some tens of megabytes, and a hundred bytes for each range. Tells of each row of `from` that was
// read, in the thread that calls.
[[nodiscard]] Result<TableChanges> find_changes(Connection& from, Connection& to, const WholeTable& table,
                                                const std::function<void(std::int64_t rows)>& rows_read);

}  // namespace gleaner::storage
