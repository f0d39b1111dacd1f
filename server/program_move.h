// `gleaner-server move-blobs`: storage/move_blobs.h for people. Blocks until all is moved.
#pragma once

#include <string>

#include "server/service/configuration.h"
#include "server/storage/open_blobs.h"
#include "shared/io/files.h"

namespace gleaner::server {

[[nodiscard]] storage::BlobPlace blob_place(const io::Path& directory,
                                            const service::Configuration& configuration);

enum class Extent { all, ahead };  // ahead: what there is, while the server runs
// `to`: a url, or "files". The exit code: 0, 1, or 4: blobs are lost where they are.
[[nodiscard]] int run_move(const io::Path& directory, const service::Configuration& configuration,
                           const std::string& to, Extent extent);

}  // namespace gleaner::server
