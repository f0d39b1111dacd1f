#include "server/policy/readiness.h"

namespace gleaner::policy {

Status readiness(const ReadinessFacts& facts) {
  const auto not_ready = [](const char* why) { return Error{ErrorKind::unavailable, why}; };
  if (facts.stopping) return not_ready("stopping: the server finishes what it has received");
  if (facts.store_failing)
    return not_ready("store: the last transaction could not be stored, see the server's log");
  if (facts.writer_waits > writer_patience)
    return not_ready("writer: nothing has been decided for more than ten seconds, see the server's log");
  if (facts.disk_full)
    return not_ready("disk: less is free than store.disk_reserve_megabytes, so that results are refused");
  if (facts.blobs_away)
    return not_ready(
        "blobs: the object store cannot be used, so that large results are refused: see the log");
  if (facts.requests_under_way >= facts.requests_under_way_max)
    return not_ready("overload: as many requests are under way as are served");
  return {};
}

}  // namespace gleaner::policy
