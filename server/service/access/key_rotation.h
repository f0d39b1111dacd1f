// Takes new keys into a project's directory (gleaner-server take-keys): what shared/bundle/server_keys.h
// makes. Not thread-safe; the server that runs goes on with the old ones until it is started again.
#pragma once

#include <string>
#include <vector>

#include "server/service/core/project_directory.h"

namespace gleaner::service {

struct TakenKeys {
  bool work = false;
  bool tls = false;
};

// Checks all of them before anything changes: certified by the project's root key, good now, not revoked. The
// certificate of the work key before is kept in keys/former, so that what it granted goes on; its private
// half is gone. May be repeated after a failure half-way. The files in `from` stay: remove them.
[[nodiscard]] Result<TakenKeys> take_keys(io::Files& files, const ProjectDirectory& project,
                                          const io::Path& from, Timestamp now);

}  // namespace gleaner::service
