// `gleaner-server backup` and `restore`: service/upkeep/backup.h for people and scripts. Blocks until all is
// copied.
#pragma once

#include "server/program_check.h"
#include "server/service/core/configuration.h"
#include "server/service/upkeep/backup.h"

namespace gleaner::server {

enum class Objects { left, copied };
// `configuration`: the project's. `objects`: copy its blobs from its object store; `former`: a backup that
// had that, or empty. The exit code: 0, 1, or 4: some blobs are lost there, all else is copied.
[[nodiscard]] int run_backup(const io::Path& project, const io::Path& into,
                             const service::Configuration& configuration, service::BackupOptions options,
                             Objects objects, Format format);
// The exit code: 0 or 1.
// `objects`: put its blobs back into the object store that its settings name.
[[nodiscard]] int run_restore(const io::Path& backup, const io::Path& project, io::Place place,
                              Objects objects, Format format);

}  // namespace gleaner::server
