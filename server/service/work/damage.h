// What follows when blobs turn out to be damaged or gone: results are computed again, by themselves, while
// the problem goes on; a problem whose input it is waits for its administrator; for all else there is a line
// in the log. Who hands a blob to a manager looks first (lost_blobs.h,
// stored_segments.h); clients look themselves.
#pragma once

#include <string>
#include <vector>

#include "server/service/core/transaction.h"

namespace gleaner::service {

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
