// The parts of opening a store, for what opens one in another way than a server does. Private to this module.
#pragma once

#include <future>
#include <memory>
#include <string>

#include "server/storage/connection.h"
#include "server/storage/open_store.h"
#include "server/storage/sql_store.h"

namespace gleaner::storage {

// A store that nobody else writes to while this lives, of this program's schema. Nobody has looked yet at
// whether it is older than it was, or moved.
struct Opened {
  std::string place, how;      // what it is called, and how it can have become older than it was
  std::shared_ptr<void> lock;  // outlives the connections
  std::unique_ptr<Connection> connection, reader;
  std::future<Status> check = {};  // OpenCheck::beside
};

// DIRECTORY/store.sqlite, which is made if it is not there. `lock`: the directory's.
[[nodiscard]] Result<Opened> open_file(std::shared_ptr<void> lock, const io::Path& directory, OpenCheck how);
// The database, which this process leads from now on (open_store()).
[[nodiscard]] Result<Opened> open_database(const std::string& url, const StoreOptions& options);

// invalid: its rows were moved elsewhere, or are not all here yet (move_store.h).
[[nodiscard]] Status check_place(Connection& connection, const std::string& place);
// invalid: it is older than the note in the directory says, and that is not accepted; or as check_place().
[[nodiscard]] Result<std::unique_ptr<SqlStore>> serve(Opened opened, const io::Path& directory, Loss loss);

}  // namespace gleaner::storage
