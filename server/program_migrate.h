// `gleaner-server migrate`: storage/move_store.h for people and scripts. Blocks until all is moved.
#pragma once

#include <string>

#include "server/program_check.h"

namespace gleaner::server {

enum class Extent { all, ahead };  // ahead: what there is, while the server runs
struct MigrateOptions {
  std::string from, to;  // addresses of databases, or storage::store_file
  Extent extent = Extent::all;
};

// What may be said to --from and --to; empty: it is one of them.
[[nodiscard]] std::string objection_to_place(const std::string& text);
// The exit code: 0 or 1.
[[nodiscard]] int run_migrate(const io::Path& project, const MigrateOptions& options, Format format);

}  // namespace gleaner::server
