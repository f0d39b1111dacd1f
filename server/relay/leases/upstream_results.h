// Results that hosts of a relay deliver: each is signed by who computed it, kept until the project has
// answered it, and answered with the project's own words. A relay refuses nothing by itself but what it
// cannot pass on; then it answers nothing, and the host keeps it. Writer thread only.
#pragma once

#include "server/service/core/prepared_commit.h"
#include "server/service/core/transaction.h"
#include "server/service/core/work_outcome.h"

namespace gleaner::service {

// It is damaged here, or gone: its items are handed out again, unless its host brings it once more.
[[nodiscard]] Status lose_result(Transaction& tx, SegmentId segment);
// The parent leases items again whose results it has acknowledged: a restore from a backup has lost these.
// The relay hands the items out again.
[[nodiscard]] Status lose_answered(Transaction& tx, ProblemId problem, int stage, Range range);
// The project's answer to one of them. REQUIRES: it is known to be the project's.
[[nodiscard]] Status take_answer(Transaction& tx, const protocol::SignedStatement& statement);

}  // namespace gleaner::service
