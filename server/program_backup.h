// `gleaner-server backup` and `restore`: service/backup.h for people and scripts. Blocks until all is copied.
#pragma once

#include "server/program_check.h"
#include "server/service/backup.h"

namespace gleaner::server {

// The exit code: 0 or 1.
[[nodiscard]] int run_backup(const io::Path& project, const io::Path& into,
                             const service::BackupOptions& options, Format format);
[[nodiscard]] int run_restore(const io::Path& backup, const io::Path& project, io::Place place,
                              Format format);

}  // namespace gleaner::server
