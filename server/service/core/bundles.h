// Unpacked applications that are not whole any more are unpacked again from their archives. Blocks; before
// the server serves, or while none runs.
#pragma once

#include <string>
#include <vector>

#include "server/service/core/project_directory.h"
#include "server/storage/blob_store.h"
#include "server/storage/store.h"

namespace gleaner::service {

// A line for each that was. One whose archive is lost, too, stays as it is. Errors: io.
[[nodiscard]] Result<std::vector<std::string>> restore_bundles(storage::Store& store,
                                                               storage::BlobStore& blobs,
                                                               const ProjectDirectory& directory);

}  // namespace gleaner::service
