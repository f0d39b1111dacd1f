// All tables of a project from one connection to another, of the same engine or not. Private to this module.
#pragma once

#include <functional>

#include "server/storage/connection.h"
#include "server/storage/move_store.h"

namespace gleaner::storage {

// Makes the tables of `to` hold what those of `from` do, whatever is there: what is the same stays, what is
// not to be there is removed, the rest is copied, in transactions of 10,000 rows, and read back. So every row
// was read from both and compared, and what was interrupted goes on. invalid: what was copied is not the
// same.
//
// REQUIRES: nobody writes to either; or a transaction of `from` is open that sees nothing of it. `from` is
// used by another thread meanwhile.
[[nodiscard]] Result<MoveReport> copy_tables(Connection& from, Connection& to,
                                             const std::function<void(const MoveProgress&)>& progress);

}  // namespace gleaner::storage
