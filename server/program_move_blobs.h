// `gleaner-server migrate --blobs`: storage/move_blobs.h for people and scripts. Blocks until all is moved.
#pragma once

#include <string>

#include "server/program_migrate.h"
#include "server/service/core/configuration.h"
#include "server/storage/open_blobs.h"
#include "shared/io/files.h"

namespace gleaner::server {

[[nodiscard]] storage::BlobPlace blob_place(const io::Path& directory,
                                            const service::Configuration& configuration);

// `to`: a url, or "files". The exit code: 0, 1, or 4: blobs are lost where they are.
[[nodiscard]] int run_move_blobs(const io::Path& directory, const service::Configuration& configuration,
                                 const std::string& to, Extent extent, Format format);
// What may not be said as `to`; empty: nothing.
[[nodiscard]] std::string objection_to_blob_place(const std::string& text);

}  // namespace gleaner::server
