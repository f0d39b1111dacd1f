// Blobs that are damaged or gone.
#pragma once

#include <string>
#include <vector>

#include "server/storage/blob_store.h"
#include "shared/protocol/messages.h"

namespace gleaner::service {

// Whether a blob that was looked at is damaged or gone for good; where its store is only away (io), it is
// not.
[[nodiscard]] bool is_lost(const Status& verified);
// Which of them are lost: reads them all. Blocks: on the pool. What is damaged is no blob any more.
[[nodiscard]] std::vector<std::string> damaged_among(storage::BlobStore& blobs,
                                                     std::vector<std::string> digests);
[[nodiscard]] std::vector<std::string> digests_of(const std::vector<protocol::Input>& inputs);

}  // namespace gleaner::service
