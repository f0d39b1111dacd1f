// Where a project's rows are, by its settings: in a file of its own directory, or in a database that several
// servers of the project can reach.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "server/storage/last_beat.h"
#include "server/storage/store.h"
#include "shared/base/result.h"
#include "shared/io/files.h"

namespace gleaner::storage {

struct StoreOptions {
  OpenCheck check = OpenCheck::none;
  Loss loss = Loss::refused;
  // Of a database: asked several times a second while another server leads the project; false: no longer.
  std::function<bool()> waits;
  // Of a database: told once, from any thread, when this server leads no longer or cannot know: because
  // another one took over while it stood still, or because the connection broke. Nothing more can be stored,
  // and what was under way must not be acknowledged: the process is to end, and may start anew.
  std::function<void(const Error&)> lost;
  std::shared_ptr<LastBeat> last_beat = {};  // of a database: kept up to date; null: nobody asks
};

// What a project's directory has where its rows are in no database.
inline constexpr const char* store_file = "store.sqlite";
[[nodiscard]] bool is_database_url(const std::string& url);  // postgresql://...

// `url` empty: DIRECTORY/store.sqlite, as open_sqlite_store(). Else the database, whose tables are made or
// migrated once this server leads; until then it waits, as a standby. unavailable: it cannot be reached, or
// `waits` said so.
[[nodiscard]] Result<std::unique_ptr<Store>> open_store(const std::string& url, const io::Path& directory,
                                                        const StoreOptions& options);

}  // namespace gleaner::storage
