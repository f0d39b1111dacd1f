// What follows when blobs turn out to be damaged or gone: results are computed again, by themselves, while
// the problem goes on; a problem whose input it is waits for its administrator; for all else there is a line
// in the log. Who hands a blob to a manager looks first (damaged_among here, and
// stored_segments.h); clients look themselves.
#pragma once

#include <string>
#include <vector>

#include "server/service/transaction.h"
#include "server/storage/blob_store.h"

namespace gleaner::service {

// Whether a blob that was looked at is damaged or gone for good; where its store is only away (io), it is
// not.
[[nodiscard]] bool is_lost(const Status& verified);
// Which of them are lost: reads them all. Blocks: on the pool. What is damaged is no blob any more.
[[nodiscard]] std::vector<std::string> damaged_among(storage::BlobStore& blobs,
                                                     std::vector<std::string> digests);
[[nodiscard]] std::vector<std::string> digests_of(const std::vector<protocol::Input>& inputs);

// Is it the archive or an input of something that goes on, so that hosts fetch it?
[[nodiscard]] bool is_fetched(const Model& model, const std::string& digest);

// Writer thread. An archive of that digest is here again: problems that wait for it go on.
[[nodiscard]] Status archive_is_back(Transaction& tx, ApplicationId application);

// Writer thread. Blobs that nothing needs any more are passed over.
[[nodiscard]] Status take_damage(Transaction& tx, const std::vector<std::string>& lost);
// The same for a comparison that could not be made: its items are computed again, whoever delivered them.
[[nodiscard]] Status take_damage(Transaction& tx, const effect::Review& review,
                                 const std::vector<std::string>& lost);

}  // namespace gleaner::service
